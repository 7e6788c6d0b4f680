import { expect, test } from "vitest";

import { failureOf, payment, START_MS, startedStripe } from "./stripe-fixture.ts";

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
  const charged = { idempotencyKey: "m-1", status: 200, executed: true };
  const id = expect.stringMatching(/^req_/) as string;
  expect(requests).toEqual([
    { ...common, id, at: 1_772_366_400_000, ...charged, replayed: false },
    { ...common, id, at: 1_772_366_400_500, ...charged, executed: false, replayed: true },
    {
      ...common,
      id,
      at: 1_772_366_400_500,
      idempotencyKey: "m-2",
      status: 400,
      executed: false,
      replayed: false,
    },
    {
      ...common,
      id,
      at: 1_772_366_400_500,
      method: "GET",
      idempotencyKey: undefined,
      messageId: undefined,
      status: 200,
      executed: true,
      replayed: false,
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
