import type { Stripe } from "stripe";
import { expect, test } from "vitest";

import { clientOf, failureOf, payment, startedStripe } from "./stripe-fixture.ts";

const HOUR_MS = 3_600_000;
const KEY = { idempotencyKey: "m-1" };

test("the same request under one key charges once and gets the first answer again", async () => {
  const { server, stripe } = await startedStripe();
  const first = await stripe.paymentIntents.create(payment(), KEY);
  const second = await stripe.paymentIntents.create(payment(), KEY);

  expect(second).toEqual(first);
  expect(server.ledger.charges()).toHaveLength(1);
  expect(first.lastResponse.headers).not.toHaveProperty("idempotent-replayed");
  expect(second.lastResponse.headers).toMatchObject({
    "idempotent-replayed": "true",
    "idempotency-key": "m-1",
    "original-request": first.lastResponse.requestId,
  });
  expect(second.lastResponse.requestId).not.toBe(first.lastResponse.requestId);
});

test("the order of the parameters makes no difference", async () => {
  const { server, stripe } = await startedStripe();
  const { amount, ...rest } = payment({ metadata: { a: "1", b: "2" } });
  await stripe.paymentIntents.create({ amount, ...rest }, KEY);

  await stripe.paymentIntents.create({ ...rest, metadata: { b: "2", a: "1" }, amount }, KEY);

  expect(server.ledger.charges()).toHaveLength(1);
});

test("a key is held for a millisecond less than 24 hours from its first use", async () => {
  const { clock, server, stripe } = await startedStripe();
  const first = await stripe.paymentIntents.create(payment(), KEY);
  clock.advance(12 * HOUR_MS);
  await stripe.paymentIntents.create(payment(), KEY);
  clock.advance(12 * HOUR_MS - 1);

  const last = await stripe.paymentIntents.create(payment(), KEY);

  expect(last.id).toBe(first.id);
  expect(server.ledger.charges()).toHaveLength(1);
});

test.each([
  [
    "parameters",
    (stripe: Stripe) => stripe.paymentIntents.create(payment({ amount: 700 }), KEY),
    "Keys for idempotent requests can only be used with the same parameters they were first used with. " +
      "Try using a key other than 'm-1' if you meant to execute a different request.",
  ],
  [
    "endpoint",
    (stripe: Stripe) => stripe.paymentIntents.cancel("pi_1", {}, KEY),
    "Keys for idempotent requests can only be used for the same endpoint they were first used for " +
      "('/v1/payment_intents/pi_1/cancel' vs '/v1/payment_intents'). Try using a key other than 'm-1' if you meant to execute a different request.",
  ],
] as const)("another %s under one key is an idempotency error", async (_, call, message) => {
  const { server, stripe } = await startedStripe();
  await stripe.paymentIntents.create(payment(), KEY);

  const error = await failureOf(call(stripe));

  expect(error).toMatchObject({
    type: "StripeIdempotencyError",
    rawType: "idempotency_error",
    statusCode: 400,
    message,
  });
  expect(error.headers?.["stripe-should-retry"]).toBe("false");
  expect(server.ledger.charges()).toMatchObject([{ amount: 1200 }]);
});

test("the keys of two accounts do not meet, those of two API keys of one account do", async () => {
  const { server } = await startedStripe();
  const old = await clientOf(server, "sk_test_shop_old").paymentIntents.create(payment(), KEY);

  const rolled = await clientOf(server, "sk_test_shop_new").paymentIntents.create(payment(), KEY);
  const other = await clientOf(server, "sk_test_market").paymentIntents.create(payment(), KEY);

  expect(rolled.id).toBe(old.id);
  expect(other.id).not.toBe(old.id);
  expect(server.ledger.charges()).toMatchObject([
    { account: "acct_shop" },
    { account: "acct_market" },
  ]);
});

test("while a request is in flight, the same key gets 409 idempotency_key_in_use", async () => {
  const { server, stripe } = await startedStripe();
  const gate = Promise.withResolvers<void>();
  const blocked = server.faults.add({}, { kind: "hook", at: "received", run: () => gate.promise });
  const first = stripe.paymentIntents.create(payment(), KEY);
  await expect.poll(blocked.happened).toBe(1);

  const second = await failureOf(stripe.paymentIntents.create(payment(), KEY));
  gate.resolve();
  const done = await first;
  const third = await stripe.paymentIntents.create(payment(), KEY);

  expect(second).toMatchObject({
    type: "StripeAPIError",
    rawType: "idempotency_error",
    statusCode: 409,
    code: "idempotency_key_in_use",
  });
  expect(second.headers?.["stripe-should-retry"]).toBe("true");
  expect(third.id).toBe(done.id);
  expect(server.ledger.charges()).toHaveLength(1);
});

test("a request that was rejected for its parameters leaves the key free", async () => {
  const { server, stripe } = await startedStripe();
  await failureOf(stripe.paymentIntents.create(payment({ amount: 1 }), KEY));

  const intent = await stripe.paymentIntents.create(payment(), KEY);

  expect(intent.status).toBe("succeeded");
  expect(server.ledger.charges()).toHaveLength(1);
});

test.for([
  "unauthorized",
  "idempotency_key_in_use",
  "lock_timeout",
  "rate_limit",
  "unavailable",
] as const)("%s is not stored: the next request under the key is carried out", async (error) => {
  const { server, stripe } = await startedStripe();
  server.faults.add({}, { kind: "refuse", error });
  await failureOf(stripe.paymentIntents.create(payment(), KEY));

  const intent = await stripe.paymentIntents.create(payment(), KEY);

  expect(intent.status).toBe("succeeded");
  expect(intent.lastResponse.headers).not.toHaveProperty("idempotent-replayed");
});

test("a key of 255 characters is taken and one of 256 is rejected", async () => {
  const { server, stripe } = await startedStripe();
  const longest = "k".repeat(255);

  const taken = await stripe.paymentIntents.create(payment(), { idempotencyKey: longest });
  const rejected = await failureOf(
    stripe.paymentIntents.create(payment(), { idempotencyKey: `${longest}k` }),
  );

  expect(taken.status).toBe("succeeded");
  expect(rejected).toMatchObject({ type: "StripeInvalidRequestError", statusCode: 400 });
  expect(server.ledger.charges()).toHaveLength(1);
});

test("a GET ignores the key", async () => {
  const { stripe } = await startedStripe();
  const before = await stripe.paymentIntents.list({}, KEY);
  await stripe.paymentIntents.create(payment(), KEY);

  const after = await stripe.paymentIntents.list({}, KEY);

  expect(before.data).toHaveLength(0);
  expect(after.data).toHaveLength(1);
});
