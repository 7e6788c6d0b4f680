// Charges at the local Stripe, over HTTP with stripe-node.

import { expect, onTestFinished, test } from "vitest";

import type { ChargeParams } from "../lib/charge.ts";
import { stripeCharges } from "../lib/charges.stripe.ts";
import type { StripeKeys } from "../lib/charges.stripe.ts";
import { startStripe } from "../local/stripe/server.ts";

const NOW = Date.parse("2026-11-29T12:00:00Z");

const params = (messageId: string): ChargeParams => ({
  amount: 1200,
  currency: "eur",
  customer: "cus_ada",
  payment_method: "pm_card_visa",
  confirm: true,
  off_session: true,
  metadata: { message_id: messageId },
});

async function prepare(keys: StripeKeys = { get: async () => "sk_test_local", drop: () => {} }) {
  const clock = { now: NOW };
  const stripe = await startStripe({ now: () => clock.now });
  onTestFinished(() => stripe.stop());
  const charges = stripeCharges(keys, new URL(stripe.url));
  const create = (messageId: string) =>
    charges.create(params(messageId), { idempotencyKey: messageId, timeoutMs: 5_000 });
  return { clock, stripe, charges, create };
}

test("the look-up goes through every page until it finds the message", async () => {
  const { charges, create, stripe } = await prepare();
  for (let i = 0; i < 201; i++) await create(`order-${i}`);

  // The oldest of 201, on the third page of 100.
  const query = { messageId: "order-0", customer: "cus_ada", since: NOW };
  const found = await charges.find(query, 5_000);

  expect(found).toMatchObject({ kind: "outcome", outcome: { result: "succeeded" } });
  const pages = stripe.ledger.requests().filter(({ method }) => method === "GET");
  expect(pages).toHaveLength(3);
});

test("the look-up sees only its customer's payments since its time", async () => {
  const { charges, create, clock } = await prepare();
  await create("order-1");
  clock.now += 60_000;

  const find = (customer: string, since: number) =>
    charges.find({ messageId: "order-1", customer, since }, 5_000);

  expect(await find("cus_ada", NOW)).toMatchObject({ kind: "outcome" });
  expect(await find("cus_ada", NOW + 1_000)).toEqual({ kind: "none" });
  expect(await find("cus_eve", NOW)).toEqual({ kind: "none" });
});

test("a look-up that does not end in its time is a failure, not a 'nothing found'", async () => {
  const { charges, stripe } = await prepare();
  stripe.faults.add({ method: "GET" }, { kind: "delayAfter", ms: 2_000 });

  const query = { messageId: "order-1", customer: "cus_ada", since: NOW };

  expect(await charges.find(query, 200)).toEqual({
    kind: "error",
    error: { kind: "stripe_unavailable", code: "timeout" },
  });
});

test("an empty key never reaches stripe-node, which would make up a random one", async () => {
  const { charges, stripe } = await prepare();

  const charge = charges.create(params("x"), { idempotencyKey: "", timeoutMs: 5_000 });

  await expect(charge).rejects.toThrow("Bug! A charge without an idempotency key.");
  expect(stripe.ledger.totals()).toMatchObject({ requests: 0 });
});

test("a key that takes all the time leaves none for the charge: nothing is sent", async () => {
  const slow = async () => {
    const end = performance.now() + 20;
    while (performance.now() < end); // as an environment that was frozen and thawed
    return "sk_test_local";
  };
  const { charges, stripe } = await prepare({ get: slow, drop: () => {} });

  const answer = await charges.create(params("x"), { idempotencyKey: "x", timeoutMs: 10 });

  expect(answer).toEqual({ kind: "error", error: { kind: "deadline" } });
  expect(stripe.ledger.totals()).toMatchObject({ requests: 0 });
});

test("a key that cannot be had is a configuration error, by name only", async () => {
  const keys = {
    get: async () => {
      throw Object.assign(new Error("User arn:… may not read it"), { name: "AccessDenied" });
    },
    drop: () => {},
  };
  const { create, stripe } = await prepare(keys);

  expect(await create("order-1")).toEqual({
    kind: "error",
    error: { kind: "stripe_configuration", code: "AccessDenied" },
  });
  expect(stripe.ledger.totals()).toMatchObject({ requests: 0 });
});

test("after a rotation the next charge goes with the new key", async () => {
  let key = "sk_test_shop_old";
  const { create, stripe } = await prepare({ get: async () => key, drop: () => {} });
  await create("order-1");

  key = "sk_test_shop_new";
  stripe.keys.revoke("sk_test_shop_old");

  expect(await create("order-2")).toMatchObject({ kind: "outcome" });
});
