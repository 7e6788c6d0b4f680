// Bodies as AWS's brokers put them on a queue. Shapes:
// https://docs.aws.amazon.com/sns/latest/dg/http-notification-json.html (SNS, without raw delivery)
// https://docs.aws.amazon.com/eventbridge/latest/ref/overiew-event-structure.html (EventBridge)

import { CloudEvent } from "cloudevents";
import { expect, test } from "vitest";

import { decodeMessage } from "../../lib/message/decode.ts";
import { WORKER_TIMINGS } from "../support/timings.ts";

const NOW = Date.parse("2026-11-29T12:00:00Z");
const PAYMENT = {
  amount: 1200,
  currency: "eur",
  customer: "cus_ada",
  paymentMethod: "pm_card_visa",
};
const PLAIN = { id: "order-1001", createdAt: "2026-11-29T11:59:00Z", ...PAYMENT };
const READ = {
  kind: "message",
  message: { id: "order-1001", sentAt: 1_795_953_540_000, payment: PAYMENT },
};

const decode = (body: unknown) => decodeMessage(JSON.stringify(body), NOW, WORKER_TIMINGS);

const sns = (message: string, changes: object = {}) => ({
  Type: "Notification",
  MessageId: "22b80b92-fdea-4c2c-8f9d-bdfb0c7bf324",
  TopicArn: "arn:aws:sns:us-west-2:123456789012:MyTopic",
  Subject: "A payment",
  Message: message,
  Timestamp: "2026-11-29T11:59:30.000Z",
  SignatureVersion: "1",
  Signature: "c6wV3l8r0A==",
  SigningCertURL: "https://sns.us-west-2.amazonaws.com/SimpleNotificationService.pem",
  UnsubscribeURL: "https://sns.us-west-2.amazonaws.com/?Action=Unsubscribe",
  MessageAttributes: { kind: { Type: "String", Value: "payment" } },
  ...changes,
});

const eventBridge = (detail: unknown, changes: object = {}) => ({
  version: "0",
  id: "6a7e8feb-b491-4cf7-a9f1-bf3703467718",
  "detail-type": "PaymentRequested",
  source: "com.example.shop",
  account: "111122223333",
  time: "2026-11-29T11:59:30Z",
  region: "us-west-1",
  resources: [],
  detail,
  ...changes,
});

test("a payment in an SNS notification is read, under the sender's id", () => {
  expect(decode(sns(JSON.stringify(PLAIN)))).toEqual(READ);
});

test("a payment in an EventBridge event is read, under the sender's id", () => {
  expect(decode(eventBridge(PLAIN))).toEqual(READ);
});

test("a replayed EventBridge event is read", () => {
  expect(decode(eventBridge(PLAIN, { "replay-name": "november" }))).toEqual(READ);
});

test("an EventBridge event that SNS carried is read", () => {
  expect(decode(sns(JSON.stringify(eventBridge(PLAIN))))).toEqual(READ);
});

test("a CloudEvent inside each broker is read, under the event's own id", () => {
  const event = new CloudEvent({
    id: "evt-1001",
    source: "/shop",
    type: "payment",
    time: "2026-11-29T11:59:00Z",
    data: PAYMENT,
  });
  const read = {
    kind: "message",
    message: { id: "evt-1001", sentAt: 1_795_953_540_000, payment: PAYMENT },
  };

  expect(decode(sns(event.toString()))).toEqual(read);
  expect(decode(eventBridge(event.toJSON()))).toEqual(read);
});

test("a producer's retry, which the broker gives a new id, has the same message id", () => {
  const first = decode(sns(JSON.stringify(PLAIN)));
  const retry = decode(
    sns(JSON.stringify(PLAIN), { MessageId: "da41e39f-ea4d-435a-b922-c6aae3915ebe" }),
  );

  expect(retry).toEqual(first);
});

test("a broker's id is never taken for a missing one of the sender", () => {
  const { id: _, ...anonymous } = PLAIN;

  expect(decode(sns(JSON.stringify(anonymous)))).toEqual({
    kind: "invalid",
    violation: { field: "Message.id", rule: "message_id" },
  });
  expect(decode(eventBridge(anonymous))).toEqual({
    kind: "invalid",
    violation: { field: "detail.id", rule: "message_id" },
  });
});

test("a broker's time is never taken for a missing one of the sender", () => {
  const { createdAt: _, ...timeless } = PLAIN;

  expect(decode(sns(JSON.stringify(timeless)))).toMatchObject({
    violation: { field: "Message.createdAt", rule: "sender_time" },
  });
  expect(decode(eventBridge(timeless))).toMatchObject({
    violation: { field: "detail.createdAt", rule: "sender_time" },
  });
});

test.each([
  ["a string that is no JSON", sns("Hello world!"), "Message"],
  ["a JSON array", sns("[1]"), "Message"],
  ["a number for the message", sns("1", { Message: 1 }), "Message"],
  ["no detail", eventBridge(undefined), "detail"],
  ["a string for the detail", eventBridge(JSON.stringify(PLAIN)), "detail"],
])("%s in a broker's envelope is invalid", (_what, body, field) => {
  expect(decode(body)).toEqual({ kind: "invalid", violation: { field, rule: "body_json" } });
});

test.each(["SubscriptionConfirmation", "UnsubscribeConfirmation"])(
  "an SNS %s is invalid",
  (Type) => {
    expect(decode(sns(JSON.stringify(PLAIN), { Type }))).toMatchObject({
      kind: "invalid",
      violation: { field: "id", rule: "message_id" },
    });
  },
);
