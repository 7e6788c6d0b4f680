// The Lambda handler's half of SQS: events in, partial batch responses and visibilities out.

import { ChangeMessageVisibilityBatchCommand } from "@aws-sdk/client-sqs";
import type { SQSClient } from "@aws-sdk/client-sqs";
import type { Context, SQSBatchResponse, SQSEvent } from "aws-lambda";

import { reportLine } from "../lambda/payment-log.ts";
import type { LogLine } from "../lambda/payment-log.ts";
import type { Deps } from "../payments/protocol.ts";
import { allUnavailable, processBatch, retryDelaySeconds } from "./batch.ts";
import type { Delivery, Result } from "./batch.ts";

export type HandlerDeps = Deps & {
  queue: { client: SQSClient; url: string };
  functionName: string;
  /** From 0 to 1. */
  random: () => number;
  write: (line: LogLine) => void;
};

type Retry = { delivery: Delivery; delaySeconds: number };

/**
 * The handler. It answers with the SQS message ids of this batch that are not to be acknowledged.
 *
 * @throws an error named Unavailable when every delivery failed because Stripe or DynamoDB was unavailable.
 */
export function sqsHandler(
  deps: HandlerDeps,
): (
  event: SQSEvent,
  context: Pick<Context, "awsRequestId" | "getRemainingTimeInMillis">,
) => Promise<SQSBatchResponse> {
  return async (event, context) => {
    const deadline = { remainingMs: () => context.getRemainingTimeInMillis() };
    const requestId = context.awsRequestId;
    const deliveries = event.Records.map((record): Delivery => {
      const schemaVersion = record.messageAttributes?.["bq-schema-version"]?.stringValue;
      const xRayTraceId = traceIdIn(record.attributes.AWSTraceHeader);
      return {
        sqsMessageId: record.messageId,
        receiptHandle: record.receiptHandle,
        body: record.body,
        receiveCount: Number(record.attributes.ApproximateReceiveCount),
        ...(schemaVersion !== undefined && { schemaVersion }),
        ...(xRayTraceId !== undefined && { xRayTraceId }),
      };
    });
    const results = await processBatch(deliveries, deps, deadline);

    for (const result of results) {
      deps.write(
        reportLine(result, { now: deps.now(), functionName: deps.functionName, requestId }),
      );
    }
    const retries = results.flatMap((result) => retryOf(result, deps));
    await setVisibilities(retries, deps, deadline.remainingMs() / 2, requestId);

    if (allUnavailable(results)) {
      // Lambda's pollers slow down on errors; on partial failures they do not.
      const count = results.length;
      throw Object.assign(
        new Error(
          `Stripe or DynamoDB was unavailable for all ${count} messages; they come back later.`,
        ),
        { name: "Unavailable" }, // a class of that name would be minified
      );
    }
    return {
      batchItemFailures: retries.map(({ delivery }) => ({ itemIdentifier: delivery.sqsMessageId })),
    };
  };
}

/** https://docs.aws.amazon.com/xray/latest/devguide/xray-concepts.html#xray-concepts-tracingheader */
function traceIdIn(header = ""): string | undefined {
  return /(?:^|;)Root=(1-[\da-f]{8}-[\da-f]{24})(?:;|$)/.exec(header)?.[1];
}

function retryOf(result: Result, { timings, now, random }: HandlerDeps): Retry[] {
  const delaySeconds = retryDelaySeconds(result, timings, now(), random());
  return delaySeconds === undefined ? [] : [{ delivery: result.delivery, delaySeconds }];
}

/**
 * Gives each failed message its own delay. A failure here is logged and no more: the message comes
 * back with the queue's visibility timeout, which is safe.
 */
async function setVisibilities(
  retries: readonly Retry[],
  { queue, write, now }: HandlerDeps,
  timeoutMs: number,
  requestId: string,
): Promise<void> {
  const abortSignal = AbortSignal.timeout(Math.max(1, Math.floor(timeoutMs)));
  // A batch of the event source may be larger than one of the API, which takes 10.
  const chunks = Array.from({ length: Math.ceil(retries.length / 10) }, (_, i) =>
    retries.slice(10 * i, 10 * i + 10),
  );
  const warn = (code: string | undefined) =>
    write({
      timestamp: new Date(now()).toISOString(),
      level: "WARN",
      message: "could not set a visibility; the queue's own timeout applies",
      code,
      requestId,
    });

  await Promise.all(
    chunks.map(async (chunk) => {
      const command = new ChangeMessageVisibilityBatchCommand({
        QueueUrl: queue.url,
        Entries: chunk.map(({ delivery, delaySeconds }, index) => ({
          Id: String(index),
          ReceiptHandle: delivery.receiptHandle,
          VisibilityTimeout: Math.min(delaySeconds, 43_200),
        })),
      });
      try {
        const { Failed = [] } = await queue.client.send(command, { abortSignal });
        for (const { Code } of Failed) warn(Code);
      } catch (error) {
        warn(error instanceof Error ? error.name : undefined);
      }
    }),
  );
}
