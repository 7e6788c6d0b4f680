// The shapes that a payment comes in, as brokers and libraries make them.

import { payment } from "./worker.ts";

const { id: _id, createdAt, ...FIELDS } = payment();

export const cloudEvent = (id: unknown) => ({
  specversion: "1.0",
  id,
  source: "/shop",
  type: "com.example.payment",
  time: createdAt,
  data: FIELDS,
});

export const babelQueue = (id: unknown) => ({
  job: "urn:babel:payments:charge",
  trace_id: "7b3f9c2a-e41d-4f88-9b2a-1c0d5e6f7a8b",
  data: FIELDS,
  meta: { id, queue: "payments", lang: "node", schema_version: 1, created_at: 1_795_953_540_000 },
  attempts: 0,
});

/** A notification whose own id and time are the broker's. */
export const sns = (message: unknown, brokerId: string) => ({
  Type: "Notification",
  MessageId: brokerId,
  TopicArn: "arn:aws:sns:us-east-1:123456789012:payments",
  Message: JSON.stringify(message),
  Timestamp: "2026-11-29T11:59:30.000Z",
});

export const eventBridge = (detail: unknown, brokerId: string) => ({
  version: "0",
  id: brokerId,
  "detail-type": "Payment Requested",
  source: "com.example.shop",
  time: "2026-11-29T11:59:30Z",
  detail,
});
