import { expect, test } from "vitest";

import { clientOf, failureOf, payment, startedStripe } from "./stripe-fixture.ts";

const HOUR_MS = 3_600_000;

test("the same request under one key charges once and gets the first answer again", async () => {
  const { server, stripe } = await startedStripe();
  const first = await stripe.paymentIntents.create(payment(), { idempotencyKey: "m-1" });
  const second = await stripe.paymentIntents.create(payment(), { idempotencyKey: "m-1" });

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
  await stripe.paymentIntents.create({ amount, ...rest }, { idempotencyKey: "m-1" });

  await stripe.paymentIntents.create(
    { ...rest, metadata: { b: "2", a: "1" }, amount },
    { idempotencyKey: "m-1" },
  );

  expect(server.ledger.charges()).toHaveLength(1);
});

test("a decline is replayed: a better card under the same key cannot be tried", async () => {
  const { server, stripe } = await startedStripe();
  const body = payment({ payment_method: "pm_card_chargeDeclined" });
  const first = await failureOf(stripe.paymentIntents.create(body, { idempotencyKey: "m-1" }));

  const second = await failureOf(stripe.paymentIntents.create(body, { idempotencyKey: "m-1" }));

  expect(second).toMatchObject({ statusCode: 402, code: "card_declined" });
  expect(second.payment_intent?.id).toBe(first.payment_intent?.id);
  expect(second.request_log_url).toBe(first.request_log_url);
  expect(second.headers?.["idempotent-replayed"]).toBe("true");
  expect(server.paymentIntents()).toHaveLength(1);
});

test("a key is held for a millisecond less than 24 hours from its first use", async () => {
  const { clock, server, stripe } = await startedStripe();
  const first = await stripe.paymentIntents.create(payment(), { idempotencyKey: "m-1" });
  clock.advance(12 * HOUR_MS);
  await stripe.paymentIntents.create(payment(), { idempotencyKey: "m-1" });
  clock.advance(12 * HOUR_MS - 1);

  const last = await stripe.paymentIntents.create(payment(), { idempotencyKey: "m-1" });

  expect(last.id).toBe(first.id);
  expect(server.ledger.charges()).toHaveLength(1);
});

test("a key that is 24 hours old is gone, and the request is carried out afresh", async () => {
  const { clock, server, stripe } = await startedStripe();
  const first = await stripe.paymentIntents.create(payment(), { idempotencyKey: "m-1" });
  clock.advance(24 * HOUR_MS);

  const second = await stripe.paymentIntents.create(payment({ amount: 1300 }), {
    idempotencyKey: "m-1",
  });

  expect(second.id).not.toBe(first.id);
  expect(server.ledger.charges()).toMatchObject([{ amount: 1200 }, { amount: 1300 }]);
});

test("other parameters under one key are an idempotency error, and the first charge stands alone", async () => {
  const { server, stripe } = await startedStripe();
  await stripe.paymentIntents.create(payment({ amount: 500 }), { idempotencyKey: "m-1" });

  const error = await failureOf(
    stripe.paymentIntents.create(payment({ amount: 700 }), { idempotencyKey: "m-1" }),
  );

  expect(error).toMatchObject({
    type: "StripeIdempotencyError",
    rawType: "idempotency_error",
    statusCode: 400,
    message:
      "Keys for idempotent requests can only be used with the same parameters they were first used with. " +
      "Try using a key other than 'm-1' if you meant to execute a different request.",
  });
  expect(error.headers?.["stripe-should-retry"]).toBe("false");
  expect(server.ledger.charges()).toMatchObject([{ amount: 500 }]);
});

test("another endpoint under one key is an idempotency error", async () => {
  const { stripe } = await startedStripe();
  await stripe.paymentIntents.create(payment(), { idempotencyKey: "m-1" });

  const error = await failureOf(
    stripe.customers.create({ name: "Anna" }, { idempotencyKey: "m-1" }),
  );

  expect(error).toMatchObject({
    type: "StripeIdempotencyError",
    statusCode: 400,
    message:
      "Keys for idempotent requests can only be used for the same endpoint they were first used for " +
      "('/v1/customers' vs '/v1/payment_intents'). Try using a key other than 'm-1' if you meant to execute a different request.",
  });
});

test("the keys of two accounts do not meet, those of two API keys of one account do", async () => {
  const { server } = await startedStripe();
  const options = { idempotencyKey: "m-1" };
  const old = await clientOf(server, "sk_test_shop_old").paymentIntents.create(payment(), options);

  const rolled = await clientOf(server, "sk_test_shop_new").paymentIntents.create(
    payment(),
    options,
  );
  const other = await clientOf(server, "sk_test_market").paymentIntents.create(payment(), options);

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
  const first = stripe.paymentIntents.create(payment(), { idempotencyKey: "m-1" });
  await expect.poll(blocked.happened).toBe(1);

  const second = await failureOf(
    stripe.paymentIntents.create(payment(), { idempotencyKey: "m-1" }),
  );
  gate.resolve();
  const done = await first;
  const third = await stripe.paymentIntents.create(payment(), { idempotencyKey: "m-1" });

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
  await failureOf(stripe.paymentIntents.create(payment({ amount: 1 }), { idempotencyKey: "m-1" }));

  const intent = await stripe.paymentIntents.create(payment(), { idempotencyKey: "m-1" });

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
  await failureOf(stripe.paymentIntents.create(payment(), { idempotencyKey: "m-1" }));

  const intent = await stripe.paymentIntents.create(payment(), { idempotencyKey: "m-1" });

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
  const before = await stripe.paymentIntents.list({}, { idempotencyKey: "m-1" });
  await stripe.paymentIntents.create(payment(), { idempotencyKey: "m-1" });

  const after = await stripe.paymentIntents.list({}, { idempotencyKey: "m-1" });

  expect(before.data).toHaveLength(0);
  expect(after.data).toHaveLength(1);
});
