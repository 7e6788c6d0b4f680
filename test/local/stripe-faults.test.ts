// What only Stripe's faults do; what any server's do is in http-server.test.ts.

import { expect, test } from "vitest";

import { clientOf, failureOf, payment, startedStripe } from "./stripe-fixture.ts";

const M1 = payment({ metadata: { message_id: "m-1" } });
const KEY = { idempotencyKey: "m-1" };

test("a reply that is dropped hides a charge, and the same key brings it to light", async () => {
  const { server, stripe } = await startedStripe();
  const fault = server.faults.add({ times: 2 }, { kind: "dropAfter" });

  const error = await failureOf(stripe.paymentIntents.create(M1, KEY));
  const charges = server.ledger.charges();
  const intent = await stripe.paymentIntents.create(M1, KEY);

  expect(error.type).toBe("StripeConnectionError");
  expect(fault.happened()).toBe(2);
  expect(charges).toMatchObject([{ messageId: "m-1" }]);
  expect(intent.id).toBe(charges[0]?.paymentIntent);
  expect(server.ledger.charges()).toHaveLength(1);
});

test("stripe-node itself repeats a request after one dropped reply, under the same key", async () => {
  const { server, stripe } = await startedStripe();
  server.faults.add({}, { kind: "dropAfter" });

  const intent = await stripe.paymentIntents.create(M1, KEY);

  expect(intent.lastResponse.headers["idempotent-replayed"]).toBe("true");
  expect(server.ledger.requests()).toMatchObject([
    { executed: true, replayed: false, faults: ["dropAfter"] },
    { executed: false, replayed: true, status: 200, faults: [] },
  ]);
});

test("a request that is applied late charges although its client has gone", async () => {
  const { server } = await startedStripe();
  server.faults.add({}, { kind: "delayBefore", ms: 1_000 });
  const hasty = clientOf(server, "sk_test_local", { timeout: 30 });

  const error = await failureOf(hasty.paymentIntents.create(M1, KEY));
  const atTimeout = server.ledger.charges();

  expect(error.type).toBe("StripeConnectionError");
  expect(atTimeout).toEqual([]);
  await expect.poll(() => server.ledger.charges()).toHaveLength(1);
});

test("a request that is late on the network can be overtaken, and then replays", async () => {
  const { server, stripe } = await startedStripe();
  const fault = server.faults.add({}, { kind: "delayArrival", ms: 1_000 });
  const slow = stripe.paymentIntents.create(M1, KEY);
  await expect.poll(fault.happened).toBe(1);

  const fast = await stripe.paymentIntents.create(M1, KEY);

  expect(fast.lastResponse.headers).not.toHaveProperty("idempotent-replayed");
  const late = await slow;
  expect(late.id).toBe(fast.id);
  expect(late.lastResponse.headers["idempotent-replayed"]).toBe("true");
});

test("a stored 500 is replayed for ever, and no payment was made", async () => {
  const { server, stripe } = await startedStripe();
  const fault = server.faults.add({ messageId: "m-1" }, { kind: "storedError" });

  const first = await failureOf(stripe.paymentIntents.create(M1, KEY));
  const second = await failureOf(stripe.paymentIntents.create(M1, KEY));

  expect(first).toMatchObject({ type: "StripeAPIError", rawType: "api_error", statusCode: 500 });
  expect(first.headers?.["stripe-should-retry"]).toBe("false");
  expect(second.statusCode).toBe(500);
  expect(second.headers?.["idempotent-replayed"]).toBe("true");
  expect(fault.happened()).toBe(1);
  expect(server.paymentIntents()).toEqual([]);
});

test("a stored 500 after the charge hides a PaymentIntent that a list shows", async () => {
  const { server, stripe } = await startedStripe();
  server.faults.add({}, { kind: "storedErrorAfterCharge" });

  const first = await failureOf(stripe.paymentIntents.create(M1, KEY));
  const second = await failureOf(stripe.paymentIntents.create(M1, KEY));
  const list = await stripe.paymentIntents.list({ customer: "cus_anna" });

  expect([first.statusCode, second.statusCode]).toEqual([500, 500]);
  expect(list.data).toMatchObject([{ status: "succeeded", metadata: { message_id: "m-1" } }]);
  expect(server.ledger.chargesFor("m-1")).toHaveLength(1);
});

test("a stored 500 does not happen to a request that is only replayed", async () => {
  const { server, stripe } = await startedStripe();
  await stripe.paymentIntents.create(M1, KEY);
  const fault = server.faults.add({}, { kind: "storedError" });

  const replay = await stripe.paymentIntents.create(M1, KEY);

  expect(replay.status).toBe("succeeded");
  expect(fault.happened()).toBe(0);
});

test.for([
  ["rate_limit", 429, "StripeRateLimitError", "rate_limit", undefined, 1],
  ["lock_timeout", 429, "StripeRateLimitError", "lock_timeout", "true", 2],
  ["conflict", 409, "StripeAPIError", "lock_timeout", "true", 2],
  ["idempotency_key_in_use", 409, "StripeAPIError", "idempotency_key_in_use", "true", 2],
  ["unauthorized", 401, "StripeAuthenticationError", undefined, undefined, 1],
  ["forbidden", 403, "StripePermissionError", undefined, undefined, 1],
  ["server_error", 500, "StripeAPIError", undefined, undefined, 2],
  ["unavailable", 503, "StripeAPIError", undefined, undefined, 2],
] as const)(
  "%s is a %d that stripe-node throws as %s, and asks again after or does not",
  async ([error, status, type, code, shouldRetry, requests]) => {
    const { server } = await startedStripe();
    server.faults.add({ times: 2 }, { kind: "refuse", error });
    const retrying = clientOf(server, "sk_test_local", { maxNetworkRetries: 1 });

    const thrown = await failureOf(retrying.paymentIntents.create(M1, KEY));

    expect(thrown).toMatchObject({ type, statusCode: status });
    expect(thrown.code).toBe(code);
    expect(thrown.headers?.["stripe-should-retry"]).toBe(shouldRetry);
    expect(server.ledger.requests()).toHaveLength(requests);
    expect(server.paymentIntents()).toEqual([]);
  },
);

test("stripe-node does not repeat a stored 500: Stripe tells it not to", async () => {
  const { server } = await startedStripe();
  server.faults.add({}, { kind: "storedError" });
  const retrying = clientOf(server, "sk_test_local", { maxNetworkRetries: 3 });

  await failureOf(retrying.paymentIntents.create(M1, KEY));

  expect(server.ledger.requests()).toHaveLength(1);
});

test.for([
  ["unavailable", "StripeAPIError"],
  ["unreachable", "StripeConnectionError"],
] as const)("while Stripe is %s every request fails, and afterwards none", async ([how, type]) => {
  const { server, stripe } = await startedStripe();
  const outage = server.faults.outage(how);

  const create = await failureOf(stripe.paymentIntents.create(M1, KEY));
  const list = await failureOf(stripe.paymentIntents.list());
  outage.remove();
  const intent = await stripe.paymentIntents.create(M1, KEY);

  expect([create.type, list.type]).toEqual([type, type]);
  expect(outage.happened()).toBeGreaterThanOrEqual(2);
  expect(intent.lastResponse.headers).not.toHaveProperty("idempotent-replayed");
});
