// SQS events with payments in them.

import type { SQSEvent, SQSRecord } from "aws-lambda";

let minted = 0;

/** A batch of new payments. */
export function newBatch(size: number): SQSEvent {
  return { Records: Array.from({ length: size }, newRecord) };
}

function newRecord(): SQSRecord {
  minted += 1;
  const body = {
    id: `order-${process.pid}-${minted}`,
    createdAt: new Date().toISOString(),
    amount: 1200,
    currency: "eur",
    customer: "cus_PZb5n4QhUa7x1z",
    paymentMethod: "pm_card_visa",
  };
  return {
    messageId: `00000000-0000-4000-8000-${String(minted).padStart(12, "0")}`,
    receiptHandle: "AQEBwJnKyrHigUMZj6rYigCgxlaS3SLy0a",
    body: JSON.stringify(body),
    attributes: {
      ApproximateReceiveCount: "1",
      SentTimestamp: String(Date.now()),
      SenderId: "AIDAIENQZJOLO23YVJ4VO",
      ApproximateFirstReceiveTimestamp: String(Date.now()),
    },
    messageAttributes: {},
    md5OfBody: "e4e68fb7bd0e697a0ae8f1bb342846b3",
    eventSource: "aws:sqs",
    eventSourceARN: "arn:aws:sqs:us-east-1:000000000000:payments",
    awsRegion: "us-east-1",
  };
}
