import { expect, test } from "vitest";

import { readPaymentOutcome } from "../../../lib/orders/payment-outcome.ts";
import { PAID } from "../../support/orders.ts";

const DATA = {
  messageId: "order-1",
  result: "succeeded",
  paymentIntentId: "pi_1",
  amount: 1250,
  currency: "eur",
};
const EVENT = {
  specversion: "1.0",
  id: "order-1:1",
  source: "urn:payment-worker:test",
  type: "payment.succeeded",
  subject: "order-1",
  revision: 1,
  data: DATA,
};
const read = (detail: object) =>
  readPaymentOutcome(JSON.stringify({ id: "the-bus's-own", "detail-type": "x", detail }));

test("the identity is the event's own, not the one that the bus gives it", () => {
  expect(read(EVENT)).toEqual({
    ...PAID,
    hash: expect.stringMatching(/^[\da-f]{64}$/) as string,
  });
});

test("an event that comes again has the same hash, one that says something else has another", () => {
  const { hash } = read(EVENT)!;
  expect(read({ ...EVENT, time: "2026-11-30T06:00:00Z" })?.hash).toBe(hash);
  for (const change of [
    { result: "failed" },
    { amount: 1251 },
    { currency: "usd" },
    { paymentIntentId: "pi_2" },
  ]) {
    expect(read({ ...EVENT, data: { ...DATA, ...change } })?.hash).not.toBe(hash);
  }
  expect(read({ ...EVENT, revision: 2 })?.hash).not.toBe(hash);
});

test.each([
  "",
  "null",
  "{}",
  JSON.stringify(EVENT), // not what EventBridge sends
  JSON.stringify({ detail: { ...EVENT, specversion: "2.0" } }),
  JSON.stringify({ detail: { ...EVENT, id: "" } }),
  JSON.stringify({ detail: { ...EVENT, source: ["shop"] } }),
  JSON.stringify({ detail: { ...EVENT, revision: "1" } }),
  JSON.stringify({ detail: { ...EVENT, data: { ...DATA, messageId: "x".repeat(513) } } }),
  JSON.stringify({ detail: { ...EVENT, data: [] } }),
])("%s is no outcome event", (body) => {
  expect(readPaymentOutcome(body)).toBeUndefined();
});
