import { expect, test } from "vitest";

import { startStripe } from "../../local/stripe/server.ts";
import { clientOf, failureOf, payment, START_MS, startedStripe } from "./stripe-fixture.ts";

test("the ledger holds each charge with what it was made for", async () => {
  const { stripe, server } = await startedStripe();

  const intent = await stripe.paymentIntents.create(payment({ metadata: { message_id: "m-1" } }), {
    idempotencyKey: "key-1",
  });

  expect(server.ledger.charges()).toEqual([
    {
      paymentIntent: intent.id,
      status: "succeeded",
      messageId: "m-1",
      idempotencyKey: "key-1",
      account: "acct_local",
      customer: "cus_anna",
      amount: 1200,
      currency: "eur",
      createdMs: START_MS,
    },
  ]);
});

test("the ledger holds each request with what became of it", async () => {
  const { clock, server, stripe } = await startedStripe();
  const body = payment({ metadata: { message_id: "m-1" } });
  await stripe.paymentIntents.create(body, { idempotencyKey: "m-1" });
  clock.advance(500);
  await stripe.paymentIntents.create(body, { idempotencyKey: "m-1" });
  await failureOf(stripe.paymentIntents.create({ ...body, amount: 0 }, { idempotencyKey: "m-2" }));
  await stripe.paymentIntents.list();

  const requests = server.ledger.requests();

  const common = { method: "POST", path: "/v1/payment_intents", messageId: "m-1", faults: [] };
  expect(requests).toEqual([
    {
      ...common,
      id: expect.stringMatching(/^req_/),
      at: 1_772_366_400_000,
      idempotencyKey: "m-1",
      status: 200,
      executed: true,
      replayed: false,
    },
    {
      ...common,
      id: expect.stringMatching(/^req_/),
      at: 1_772_366_400_500,
      idempotencyKey: "m-1",
      status: 200,
      executed: false,
      replayed: true,
    },
    {
      ...common,
      id: expect.stringMatching(/^req_/),
      at: 1_772_366_400_500,
      idempotencyKey: "m-2",
      status: 400,
      executed: false,
      replayed: false,
    },
    {
      id: expect.stringMatching(/^req_/),
      at: 1_772_366_400_500,
      method: "GET",
      path: "/v1/payment_intents",
      idempotencyKey: undefined,
      messageId: undefined,
      status: 200,
      executed: true,
      replayed: false,
      faults: [],
    },
  ]);
});

test("the ledger counts by message id and in all", async () => {
  const { server, stripe } = await startedStripe();
  const one = payment({ metadata: { message_id: "m-1" } });
  const two = payment({
    metadata: { message_id: "m-2" },
    payment_method: "pm_card_chargeDeclined",
  });
  await stripe.paymentIntents.create(one, { idempotencyKey: "m-1" });
  await stripe.paymentIntents.create(one, { idempotencyKey: "m-1" });
  await failureOf(stripe.paymentIntents.create(two, { idempotencyKey: "m-2" }));

  const { ledger } = server;

  expect(ledger.countsFor("m-1")).toEqual({ requests: 2, executed: 1, replayed: 1, charges: 1 });
  expect(ledger.countsFor("m-2")).toEqual({ requests: 1, executed: 1, replayed: 0, charges: 0 });
  expect(ledger.countsFor("m-3")).toEqual({ requests: 0, executed: 0, replayed: 0, charges: 0 });
  expect(ledger.totals()).toEqual({ requests: 3, executed: 2, replayed: 1, charges: 1 });
  expect(server.connections()).toBe(1);
  expect(ledger.chargesFor("m-1")).toHaveLength(1);
  expect(ledger.chargesFor("m-2")).toEqual([]);
  expect(ledger.requestsFor("m-1")).toHaveLength(2);
});

test("a double charge shows in the ledger as two charges of one message id", async () => {
  const { server, stripe } = await startedStripe();
  const body = payment({ metadata: { message_id: "m-1" } });
  await stripe.paymentIntents.create(body, { idempotencyKey: "first" });
  await stripe.paymentIntents.create(body, { idempotencyKey: "second" });

  expect(server.ledger.chargesFor("m-1")).toMatchObject([
    { idempotencyKey: "first" },
    { idempotencyKey: "second" },
  ]);
});

test("stopping cuts requests that are under way, carries none of them out, and can be done twice", async () => {
  const server = await startStripe();
  const stripe = clientOf(server);
  const fault = server.faults.add({ times: 2 }, { kind: "delayBefore", ms: 50 });
  const call = failureOf(stripe.paymentIntents.create(payment()));
  await expect.poll(fault.happened).toBe(1);

  await server.stop();
  await server.stop();

  expect((await call).type).toBe("StripeConnectionError");
  expect(server.ledger.charges()).toEqual([]);
  await expect(fetch(server.url)).rejects.toThrow("fetch failed");
});

test("a port that is taken is said so when starting", async () => {
  const { server } = await startedStripe();

  await expect(startStripe({ port: server.port })).rejects.toThrow("EADDRINUSE");
});
