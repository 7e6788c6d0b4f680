import { expect, test } from "vitest";

import { readStripeEvent } from "../../../lib/payments/stripe-event.ts";

const event = (type: string, object: object, more: object = {}) => ({
  id: "evt_1",
  object: "event",
  type,
  livemode: false,
  data: { object },
  ...more,
});

const read = (value: unknown) => readStripeEvent(JSON.stringify(value));

const KNOWN = { eventId: "evt_1", livemode: false };

test.each(["succeeded", "payment_failed", "canceled", "requires_action", "processing"])(
  "payment_intent.%s names the PaymentIntent to ask for",
  (name) => {
    const type = `payment_intent.${name}`;
    const sent = event(type, { id: "pi_1", status: "anything", metadata: { message_id: "x" } });
    expect(read(sent)).toStrictEqual({ ...KNOWN, type, about: "payment", paymentIntentId: "pi_1" });
  },
);

test("an EventBridge envelope and the raw body read the same", () => {
  const sent = event("payment_intent.succeeded", { id: "pi_1" });
  const envelope = {
    version: "0",
    id: "7c-bus-id",
    "detail-type": sent.type,
    source: "aws.partner/stripe.com/ed_1",
    detail: sent,
  };
  expect(read(envelope)).toStrictEqual(read(sent));
  expect(read(envelope)).toMatchObject({ eventId: "evt_1", paymentIntentId: "pi_1" });
});

test("an id has at most 255 characters, and a type is cut there", () => {
  const id = "p".repeat(255);
  expect(read(event("payment_intent.succeeded", { id }))).toMatchObject({ paymentIntentId: id });
  expect(read(event("t".repeat(256), {}))).toMatchObject({ type: "t".repeat(255) });
});

test("refunds and disputes name their PaymentIntent", () => {
  expect(read(event("charge.refunded", { id: "ch_1", payment_intent: "pi_1" }))).toStrictEqual({
    ...KNOWN,
    type: "charge.refunded",
    about: "refund",
    paymentIntentId: "pi_1",
    chargeId: "ch_1",
  });
  for (const phase of ["created", "closed"]) {
    const type = `charge.dispute.${phase}`;
    expect(read(event(type, { id: "du_1", payment_intent: "pi_1" }))).toStrictEqual({
      ...KNOWN,
      type,
      about: "dispute",
      paymentIntentId: "pi_1",
      disputeId: "du_1",
      phase,
    });
  }
});

const of = (object: object, more: object = {}) => event("payment_intent.succeeded", object, more);
const ofCharge = (type: string, payment_intent: string | null) =>
  event(`charge.${type}`, { id: "ch_1", payment_intent });

test.each([
  ["another type", event("customer.created", { id: "cus_1" })],
  ["another type of a PaymentIntent", ofCharge("updated", "pi_1")],
  ["a creation, which says nothing new", event("payment_intent.created", { id: "pi_1" })],
  ["a refund without a PaymentIntent", ofCharge("refunded", null)],
  ["a connected account's", of({ id: "pi_1" }, { account: "acct_1" })],
  ["one without an object", of({}, { data: {} })],
  ["one without data", of({}, { data: null })],
  ["an id that is a path", of({ id: "../refunds" })],
  ["an id of 256 characters", of({ id: "p".repeat(256) })],
])("%s is of no concern", (_, sent) => {
  expect(read(sent)).toStrictEqual({ ...KNOWN, type: sent.type, about: "other" });
});

test.each([
  "",
  "null",
  "[]",
  "{}",
  '{"object":"event"}',
  '{"object":"event","id":"evt 1","type":"a","livemode":false}',
  '{"object":"event","id":"evt_1","type":"a","livemode":"false"}',
  '{"object":"event","id":"evt_1","type":7,"livemode":false}',
  '{"detail":{"object":"payment_intent","id":"pi_1"}}',
  '{"detail":{"object":"charge","id":"ch_1","type":"a","livemode":false}}',
  '{"object":"v2.core.event","id":"evt_1","type":"a","livemode":true}',
])("%s is not an event of Stripe's", (body) => {
  expect(readStripeEvent(body)).toBeUndefined();
});
