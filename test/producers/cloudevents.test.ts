// Messages made by the CloudEvents project's own SDK (npm: cloudevents).

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

const decode = (body: unknown) => decodeMessage(String(body), NOW, WORKER_TIMINGS);

const event = (changes: object = {}) =>
  new CloudEvent({
    id: "evt-1001",
    source: "/shop/berlin",
    type: "com.example.payment.requested",
    time: "2026-11-29T11:59:00.000Z",
    data: PAYMENT,
    ...changes,
  });

test("a structured event of the CloudEvents SDK is read", () => {
  expect(decode(HTTP.structured(event()).body)).toEqual({
    kind: "message",
    message: { id: "evt-1001", sentAt: 1_795_953_540_000, payment: PAYMENT },
  });
});

test("an event with every optional attribute and an extension is read, and its trace is kept", () => {
  const full = event({
    subject: "order-1042",
    datacontenttype: "application/json",
    dataschema: "https://example.com/payment.json",
    partitionkey: "cus_ada",
    traceparent: "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
  });

  expect(decode(HTTP.structured(full).body)).toEqual({
    kind: "message",
    message: {
      id: "evt-1001",
      sentAt: 1_795_953_540_000,
      payment: PAYMENT,
      traceId: "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
    },
  });
});

test("an id that the SDK minted is read as it is", () => {
  const minted = new CloudEvent({ type: "t", source: "s", data: PAYMENT });

  const decoded = decodeMessage(minted.toString(), Date.now(), WORKER_TIMINGS);

  expect(decoded).toMatchObject({ kind: "message", message: { id: minted.id, payment: PAYMENT } });
});

test("the same event sent twice has one message id", () => {
  const first = decode(HTTP.structured(event()).body);
  const again = decode(HTTP.structured(event({ partitionkey: "another" })).body);

  expect(again).toEqual(first);
});

// The CloudEvents specification takes source and id together for an event's identity. Here the id
// alone is: a queue's senders must not mint the same one, and if they do, it is not charged twice.
test("events of two sources with one id are one message", () => {
  const berlin = decode(HTTP.structured(event()).body);
  const paris = decode(HTTP.structured(event({ source: "/shop/paris" })).body);

  expect(paris).toEqual(berlin);
});

test("binary data is invalid", () => {
  const binary = event({ data: Uint8Array.from([1, 2]), datacontenttype: "application/json" });

  expect(decode(HTTP.structured(binary).body)).toMatchObject({
    violation: { field: "data_base64", rule: "cloudevents_data" },
  });
});

test("data that is JSON in a string is invalid", () => {
  expect(decode(HTTP.structured(event({ data: JSON.stringify(PAYMENT) })).body)).toMatchObject({
    violation: { field: "data", rule: "required" },
  });
});

// In the binary mode id and time are HTTP headers, which SQS's body does not have.
test("the body of an event in binary mode is invalid for its missing id", () => {
  expect(decode(HTTP.binary(event()).body)).toMatchObject({
    violation: { field: "id", rule: "message_id" },
  });
});

test.each(["1.0.2", "0.3", "2.0"])("an event of specversion %s is invalid", (specversion) => {
  const body = JSON.stringify({ ...event().toJSON(), specversion });

  expect(decode(body)).toMatchObject({
    violation: { field: "specversion", rule: "cloudevents_version" },
  });
});

test("an event without a time is invalid, though the specification makes it optional", () => {
  const { time: _, ...timeless } = event().toJSON();

  expect(decode(JSON.stringify(timeless))).toMatchObject({
    violation: { field: "time", rule: "sender_time" },
  });
});
