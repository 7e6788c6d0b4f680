import { readdirSync, statSync } from "node:fs";
import { basename, join } from "node:path";

import { expect, test } from "vitest";

import { bundleFunction } from "../../scripts/build.ts";
import { LEAVE_OUT } from "../../scripts/build/leave-out.ts";
import { defaultProvider } from "../../scripts/build/no-credential-providers.ts";
import { stub } from "../../scripts/build/stripe-stand-in.ts";

const ROOT = join(import.meta.dirname, "..", "..");

/** The most that each function's bundle may weigh, in bytes: a cold start parses all of it. */
const MOST_BYTES = {
  "order-fulfillment": 240_000,
  "outcome-publisher": 225_000,
  "payment-api": 260_000,
  "payment-finalizer": 355_000,
  "payment-worker": 355_000,
  reconciliation: 490_000, // S3's client: it runs four times an hour, and nobody waits for it
  "stripe-webhook": 320_000,
};

test("every function's bundle is within its size", () => {
  const built = readdirSync(join(ROOT, "functions")).map((file) => basename(file, ".ts"));

  expect(Object.keys(MOST_BYTES).toSorted()).toStrictEqual(built.toSorted());
  const tooLarge = Object.entries(MOST_BYTES).filter(
    ([name, most]) => statSync(join(ROOT, "dist", name, "index.js")).size > most,
  );
  expect(tooLarge).toStrictEqual([]);
});

test("a build that does not find Stripe's PaymentIntents fails", async () => {
  const build = bundleFunction("node_modules/stripe/esm/resources/Refunds.js", "dist/never", {
    ...LEAVE_OUT,
    logLevel: "silent",
  });

  await expect(build).rejects.toThrow(
    "stripe-node has moved PaymentIntents or BalanceTransactions",
  );
});

test("a Stripe resource that is left out says so on its first use", () => {
  const Stub = stub("RefundResource");
  const refunds = Reflect.construct(Stub, []) as { create: unknown };

  expect(() => refunds.create).toThrow(
    "Stripe's RefundResource is left out of the bundle: see scripts/build/leave-out.ts.",
  );
});

test("an AWS client without credentials reports where they are set", () => {
  expect(defaultProvider()).toThrow("made without credentials: make it in lib/aws/clients.ts");
});
