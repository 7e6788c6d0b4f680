// Charges at the local Stripe, over HTTP with stripe-node.

import { createServer } from "node:http";
import { createServer as createSocketServer } from "node:net";
import type { Server } from "node:net";

import { expect, onTestFinished, test, vi } from "vitest";

import type { ChargeParams } from "../../../lib/payments/charge.ts";
import type { StripeKeys } from "../../../lib/stripe/api-key.ts";
import { stripeCharges } from "../../../lib/stripe/charges.ts";
import { startStripe } from "../../../local/stripe/server.ts";
import { listen } from "../../support/listen.ts";

const NOW = Date.parse("2026-11-29T12:00:00Z");

const MONEY = { amount: 1200, currency: "eur" };

const params = (messageId: string): ChargeParams => ({
  amount: 1200,
  currency: "eur",
  customer: "cus_ada",
  payment_method: "pm_card_visa",
  confirm: true,
  off_session: true,
  metadata: { message_id: messageId },
});

const QUERY = { messageId: "order-1", customer: "cus_ada", ...MONEY, since: NOW };

const KEYS: StripeKeys = { get: async () => "sk_test_local", drop: () => {} };

/** Charges at a server of the test's own. */
const chargesAt = async (server: Server, protocol = "http") =>
  stripeCharges(KEYS, new URL(`${protocol}://127.0.0.1:${await listen(server)}`));

async function prepare(keys = KEYS) {
  const clock = { now: NOW };
  const stripe = await startStripe({ now: () => clock.now });
  onTestFinished(() => stripe.stop());
  const charges = stripeCharges(keys, new URL(stripe.url));
  const create = (messageId: string) =>
    charges.create(params(messageId), { idempotencyKey: messageId, timeoutMs: 5_000 });
  return { clock, stripe, charges, create };
}

test("the lookup goes through every page until it finds the message", async () => {
  const { charges, create, stripe } = await prepare();
  for (let i = 0; i < 201; i++) await create(`order-${i}`);

  // The oldest of 201, on the third page of 100.
  const found = await charges.find({ ...QUERY, messageId: "order-0" }, 5_000);

  expect(found).toMatchObject({ kind: "outcome", outcome: { result: "succeeded" } });
  const pages = stripe.ledger.requests().filter(({ method }) => method === "GET");
  expect(pages).toHaveLength(3);
});

test("the lookup sees only its customer's payments since its time", async () => {
  const { charges, create, clock, stripe } = await prepare();
  await create("order-1");
  clock.now += 60_000;

  const find = (customer: string, since: number) =>
    charges.find({ ...QUERY, customer, since }, 5_000);

  expect(await find("cus_ada", NOW)).toMatchObject({ kind: "outcome" });
  expect(await find("cus_ada", NOW + 1_000)).toEqual({ kind: "none" });
  expect(await find("cus_eve", NOW)).toEqual({ kind: "none" });
  // Nor does it ask for a page after the last.
  expect(await charges.find({ ...QUERY, messageId: "order-2" }, 5_000)).toEqual({ kind: "none" });
  expect(stripe.ledger.requests().filter(({ method }) => method === "GET")).toHaveLength(4);
});

test.each([{ amount: 1201 }, { currency: "usd" }])(
  "a PaymentIntent of the message that is not over %j is a conflict, and no outcome",
  async (other) => {
    const { charges, create } = await prepare();
    await create("order-1");

    expect(await charges.find({ ...QUERY, ...other }, 5_000)).toEqual({
      kind: "error",
      error: { kind: "stripe_conflict", code: "other_payment" },
    });
  },
);

test("a lookup that does not end in its time is a failure, not a 'nothing found'", async () => {
  const { charges, stripe } = await prepare();
  stripe.faults.add({ method: "GET" }, { kind: "delayAfter", ms: 2_000 });

  expect(await charges.find(QUERY, 200)).toEqual({
    kind: "error",
    error: { kind: "stripe_unavailable", code: "timeout" },
  });
});

test.each([
  [400, { type: "invalid_request_error", code: "parameter_unknown" }, "stripe_lookup"],
  [404, { type: "invalid_request_error", code: "resource_missing" }, "stripe_lookup"],
  [400, { type: "idempotency_error" }, "stripe_lookup"],
  [402, { type: "card_error", code: "card_declined" }, "unexpected"],
  [401, { type: "invalid_request_error" }, "stripe_configuration"],
  [400, { type: "invalid_request_error", code: "testmode_charges_only" }, "stripe_configuration"],
  [429, { type: "invalid_request_error" }, "stripe_rate_limited"],
  [500, { type: "api_error" }, "stripe_unavailable"],
])("a lookup that Stripe answers with %i %j says nothing of the charge", async (...answer) => {
  const [status, error, kind] = answer;
  const server = createServer((_, response) => {
    response.writeHead(status).end(JSON.stringify({ error }));
  });
  const charges = await chargesAt(server);

  expect(await charges.find(QUERY, 5_000)).toMatchObject({ kind: "error", error: { kind } });
});

test("an empty key never reaches stripe-node, which would make up a random one", async () => {
  const { charges, stripe } = await prepare();

  const charge = charges.create(params("x"), { idempotencyKey: "", timeoutMs: 5_000 });

  await expect(charge).rejects.toThrow("Bug! A charge without an idempotency key.");
  expect(stripe.ledger.totals()).toMatchObject({ requests: 0 });
});

test("a key that takes all the time leaves none for the charge: nothing is sent", async () => {
  let now = 1_000;
  vi.spyOn(performance, "now").mockImplementation(() => now);
  const slow = async () => {
    now += 10;
    return "sk_test_local";
  };
  const { charges, stripe } = await prepare({ get: slow, drop: () => {} });

  const answer = await charges.create(params("x"), { idempotencyKey: "x", timeoutMs: 10 });

  expect(answer).toEqual({ kind: "error", error: { kind: "deadline" } });
  expect(stripe.ledger.totals()).toMatchObject({ requests: 0 });
});

test.each([
  ["AccessDenied", Object.assign(new Error("User arn:… may not"), { name: "AccessDenied" })],
  ["unknown", undefined],
])("a key that cannot be had is a configuration error, by name only: %s", async (code, cause) => {
  const { create, stripe } = await prepare({ get: () => Promise.reject(cause), drop: () => {} });

  expect(await create("order-1")).toEqual({
    kind: "error",
    error: { kind: "stripe_configuration", code },
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

test("only a key that Stripe rejected is dropped, not one that worked for another failure", async () => {
  const dropped: string[] = [];
  const { create, stripe } = await prepare({ ...KEYS, drop: (key) => void dropped.push(key) });
  const failWith = async (error: "unavailable" | "unauthorized") => {
    const fault = stripe.faults.add({ method: "POST" }, { kind: "refuse", error });
    await create("order-1");
    fault.remove();
  };

  await failWith("unavailable");
  const afterFailure = [...dropped];
  await failWith("unauthorized");

  expect(afterFailure).toEqual([]);
  expect(dropped).toEqual(["sk_test_local"]);
});

test("no request tells Stripe how long its answers took", async () => {
  const sent: unknown[] = [];
  const server = createServer((request, response) => {
    sent.push(request.headers["x-stripe-client-telemetry"]);
    response.setHeader("request-id", "req_1"); // what stripe-node reports the time of
    response.end('{"id":"pi_1","object":"payment_intent","status":"succeeded"}');
  });
  const charges = await chargesAt(server);
  const options = { idempotencyKey: "x", timeoutMs: 5_000 };

  await charges.create(params("x"), options);
  await charges.create(params("x"), options); // telemetry is about the request before

  expect(sent).toEqual([undefined, undefined]);
});

test("an https address is spoken to in TLS, never in plain text", async () => {
  const first = Promise.withResolvers<Buffer>();
  const server = createSocketServer((socket) => {
    socket.once("data", (bytes) => {
      first.resolve(bytes);
      socket.destroy();
    });
  });
  const charges = await chargesAt(server, "https");

  await charges.create(params("x"), { idempotencyKey: "x", timeoutMs: 5_000 });

  expect((await first.promise)[0]).toBe(22); // a handshake record: RFC 8446, section 5.1
});

test.each([
  ["", () => "eur"],
  [", also of one that stripe-node cannot send", () => raise(new RangeError())],
])("stripe-node makes one line of a stack trace for a call%s", async (_, currency) => {
  const { charges } = await prepare();
  const { stackTraceLimit } = Error;
  onTestFinished(() => void (Error.stackTraceLimit = stackTraceLimit));
  Error.stackTraceLimit = 7;
  let during: number | undefined;
  const request = Object.defineProperty(params("order-1"), "currency", {
    get() {
      during = Error.stackTraceLimit;
      return currency();
    },
  });

  await Promise.allSettled([
    charges.create(request, { idempotencyKey: "order-1", timeoutMs: 5_000 }),
  ]);

  expect([during, Error.stackTraceLimit]).toEqual([1, 7]);
});

function raise(error: Error): never {
  throw error;
}
