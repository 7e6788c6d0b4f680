// Messages made by the CloudEvents project's own SDK (npm: cloudevents), and bodies as AWS's brokers put them
// on a queue:
// https://docs.aws.amazon.com/sns/latest/dg/http-notification-json.html (SNS, without raw delivery)
// https://docs.aws.amazon.com/eventbridge/latest/ref/overiew-event-structure.html (EventBridge)

import { CloudEvent, HTTP } from "cloudevents";
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
const TRACE = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

const event = (changes: object = {}) =>
  new CloudEvent({
    id: "order-1001",
    source: "/shop/berlin",
    type: "com.example.payment.requested",
    time: "2026-11-29T11:59:00.000Z",
    data: PAYMENT,
    ...changes,
  });
const structured = (changes?: object) => String(HTTP.structured(event(changes)).body);

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

const decode = (body: string | object, now = NOW) =>
  decodeMessage(typeof body === "string" ? body : JSON.stringify(body), now, WORKER_TIMINGS);

test.each<[what: string, body: string | object]>([
  ["an SNS notification", sns(JSON.stringify(PLAIN))],
  // The broker gives a producer's retry a new id.
  ["an SNS notification of its retry", sns(JSON.stringify(PLAIN), { MessageId: "da41e39f" })],
  ["an EventBridge event", eventBridge(PLAIN)],
  ["a replayed EventBridge event", eventBridge(PLAIN, { "replay-name": "november" })],
  ["an EventBridge event that SNS carried", sns(JSON.stringify(eventBridge(PLAIN)))],
  ["a structured CloudEvent", structured()],
  ["a CloudEvent in an SNS notification", sns(event().toString())],
  ["a CloudEvent in an EventBridge event", eventBridge(event().toJSON())],
  ["a CloudEvent sent again with another extension", structured({ partitionkey: "another" })],
  // The specification takes source and id together for an event's identity. Here the id alone is: a
  // queue's senders must not mint the same one, and if they do, it is not charged twice.
  ["a CloudEvent of another source with the same id", structured({ source: "/shop/paris" })],
])("a payment in %s is read, under the sender's own id", (_what, body) => {
  expect(decode(body)).toEqual({
    kind: "message",
    message: { id: "order-1001", sentAt: 1_795_953_540_000, payment: PAYMENT },
  });
});

test("a CloudEvent with every optional attribute and an extension is read, and its trace is kept", () => {
  const full = structured({
    subject: "order-1042",
    datacontenttype: "application/json",
    dataschema: "https://example.com/payment.json",
    partitionkey: "cus_ada",
    traceparent: TRACE,
  });

  expect(decode(full)).toMatchObject({ message: { payment: PAYMENT, traceId: TRACE } });
});

test("an id that the CloudEvents SDK minted is read as it is", () => {
  const minted = new CloudEvent({ type: "t", source: "s", data: PAYMENT });

  expect(decode(minted.toString(), Date.now())).toMatchObject({ message: { id: minted.id } });
});

const { id: _id, ...anonymous } = PLAIN;
const { createdAt: _createdAt, ...timeless } = PLAIN;
const binary = { data: Uint8Array.from([1, 2]), datacontenttype: "application/json" };

test.each<[what: string, body: string | object, field: string, rule: string]>([
  // A broker's own id and time are never taken for the sender's.
  ["SNS with no id of the sender's", sns(JSON.stringify(anonymous)), "Message.id", "message_id"],
  ["EventBridge with no id of the sender's", eventBridge(anonymous), "detail.id", "message_id"],
  [
    "SNS without the sender's time",
    sns(JSON.stringify(timeless)),
    "Message.createdAt",
    "sender_time",
  ],
  [
    "EventBridge without the sender's time",
    eventBridge(timeless),
    "detail.createdAt",
    "sender_time",
  ],
  ["SNS with a string that is no JSON", sns("Hello world!"), "Message", "body_json"],
  ["SNS with a JSON array", sns("[1]"), "Message", "body_json"],
  ["SNS with a number for the message", sns("1", { Message: 1 }), "Message", "body_json"],
  ["EventBridge with no detail", eventBridge(undefined), "detail", "body_json"],
  ["EventBridge with a string", eventBridge(JSON.stringify(PLAIN)), "detail", "body_json"],
  [
    "SNS's confirmation",
    sns(JSON.stringify(PLAIN), { Type: "SubscriptionConfirmation" }),
    "id",
    "message_id",
  ],
  [
    "SNS's farewell",
    sns(JSON.stringify(PLAIN), { Type: "UnsubscribeConfirmation" }),
    "id",
    "message_id",
  ],
  ["a CloudEvent with binary data", structured(binary), "data_base64", "cloudevents_data"],
  ["one with JSON in a string", structured({ data: JSON.stringify(PAYMENT) }), "data", "required"],
  // In the binary mode id and time are HTTP headers, which SQS's body does not have.
  ["one in binary mode", String(HTTP.binary(event()).body), "id", "message_id"],
  // The specification makes the time optional.
  ["one without a time", { ...event().toJSON(), time: undefined }, "time", "sender_time"],
  ...["1.0.2", "0.3", "2.0"].map((specversion): [string, object, string, string] => [
    `one of specversion ${specversion}`,
    { ...event().toJSON(), specversion },
    "specversion",
    "cloudevents_version",
  ]),
])("%s is invalid", (_what, body, field, rule) => {
  expect(decode(body)).toMatchObject({ kind: "invalid", violation: { field, rule } });
});
