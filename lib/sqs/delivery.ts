// One SQS message as it was received, and what is to become of it.

import type { SQSRecord } from "aws-lambda";

export type Delivery = {
  sqsMessageId: string;
  receiptHandle: string;
  body: string;
  /** 1 for the first receive. */
  receiveCount: number;
  /** The sender's message attributes, but for binary ones. */
  attributes: Readonly<Record<string, string>>;
  /** The X-Ray trace that the sender's AWS SDK put on the message. */
  xRayTraceId?: string;
};

export type Disposition =
  | { kind: "acknowledge" }
  /**
   * Received again after a wait that grows with each receive. `unavailable` when something that
   * every message needs did not answer.
   */
  | { kind: "backoff"; unavailable?: boolean }
  /** Received again at a time in epoch ms. */
  | { kind: "at"; time: number }
  /** Received again without a wait, until SQS moves it to the dead-letter queue. */
  | { kind: "dead-letter" };

export function deliveryOf(record: SQSRecord): Delivery {
  const xRayTraceId = traceIdIn(record.attributes.AWSTraceHeader);
  const attributes = Object.entries(record.messageAttributes ?? {}).flatMap(
    ([name, { stringValue }]) => (stringValue === undefined ? [] : [[name, stringValue]]),
  );
  return {
    sqsMessageId: record.messageId,
    receiptHandle: record.receiptHandle,
    body: record.body,
    receiveCount: Number(record.attributes.ApproximateReceiveCount),
    attributes: Object.fromEntries(attributes) as Record<string, string>,
    ...(xRayTraceId !== undefined && { xRayTraceId }),
  };
}

/** https://docs.aws.amazon.com/xray/latest/devguide/xray-concepts.html#xray-concepts-tracingheader */
function traceIdIn(header = ""): string | undefined {
  return /(?:^|;)Root=(1-[\da-f]{8}-[\da-f]{24})(?:;|$)/.exec(header)?.[1];
}
