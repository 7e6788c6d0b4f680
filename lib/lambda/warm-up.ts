// A first batch for nobody. Lambda gives init a whole CPU and a handler only its memory's share, and
// code is slowest when it runs for the first time: played here, against a stand-in inside this
// process, it does not run at a third of the speed under a payment.

import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

import type { SQSBatchResponse, SQSEvent, SQSRecord } from "aws-lambda";

type Play = (
  event: SQSEvent,
  context: { awsRequestId: string; getRemainingTimeInMillis: () => number },
) => Promise<SQSBatchResponse>;

const MESSAGES = 2; // more of them take longer here than they save later

/**
 * Plays one batch on the handler that `compose` makes for the stand-in's address, which is DynamoDB
 * and Stripe at once. Ends within `timeoutMs`.
 *
 * @throws Error when a message of the batch was not acknowledged, or not in time
 */
export async function rehearse(compose: (address: URL) => Play, timeoutMs: number): Promise<void> {
  const server = createServer((request, response) => {
    request.resume().once("end", () => response.end(INTENT)); // the table's replies are not read
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject).listen(0, "127.0.0.1", resolve);
  });
  try {
    const { port } = server.address() as AddressInfo;
    const play = compose(new URL(`http://127.0.0.1:${port}`));
    const context = { awsRequestId: "rehearsal", getRemainingTimeInMillis: () => 15 * 60 * 1_000 };
    const event = { Records: Array.from({ length: MESSAGES }, (_, index) => message(index)) };
    const { batchItemFailures } = await inTime(play(event, context), timeoutMs);
    if (batchItemFailures.length > 0) throw new Error("a message was not acknowledged");
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

const INTENT = JSON.stringify({
  id: "pi_rehearsal",
  object: "payment_intent",
  status: "succeeded",
});

function message(index: number): SQSRecord {
  const payment = {
    id: `rehearsal-${index}`,
    createdAt: new Date().toISOString(),
    amount: 100,
    currency: "usd",
    customer: "cus_rehearsal",
    paymentMethod: "pm_rehearsal",
  };
  return {
    messageId: String(index),
    receiptHandle: "",
    body: JSON.stringify(payment),
    attributes: {
      ApproximateReceiveCount: "1",
      SentTimestamp: "0",
      SenderId: "",
      ApproximateFirstReceiveTimestamp: "0",
    },
    messageAttributes: {},
    md5OfBody: "",
    eventSource: "aws:sqs",
    eventSourceARN: "",
    awsRegion: "",
  };
}

function inTime<T>(work: Promise<T>, timeoutMs: number): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error(`not done after ${timeoutMs} ms`)), timeoutMs);
  return Promise.race([work, promise]).finally(() => clearTimeout(timer));
}
