// A Lambda handler for the batches of a queue, whatever its messages are: deliveries run
// concurrently, each failed one comes back by itself and at its own time.

import type { SQSClient } from "@aws-sdk/client-sqs";
import type { Context, SQSBatchResponse, SQSEvent } from "aws-lambda";

import type { Backoff } from "../timing/backoff.ts";
import { deliveryOf } from "./delivery.ts";
import type { Delivery, Disposition } from "./delivery.ts";
import { createOncePerKey } from "./once-per-key.ts";
import type { OncePerKey } from "./once-per-key.ts";
import { retryDelaySeconds, setVisibilityTimeouts } from "./visibility.ts";

/** The invocation that a delivery came with. */
export type Batch<Result> = {
  requestId: string;
  /** What is left of the invocation, in ms; negative once Lambda should have ended it. */
  remainingMs: () => number;
  once: OncePerKey<Result>;
};

export type Processed = {
  disposition: Disposition;
  /** Reports how the delivery ended. Lines are written in the order of the deliveries. */
  line: Line;
};

type Line = { [field: string]: unknown };

export type Consumer<Result> = {
  /** Does what one delivery asks for. A rejection is a bug, and backs off. */
  process: (delivery: Delivery, batch: Batch<Result>) => Promise<Processed>;
  queue: { client: SQSClient; url: string };
  timings: Backoff;
  /** Epoch ms. */
  now: () => number;
  /** From 0 to 1. */
  random: () => number;
  /** Writes a line into the function's log. */
  write: (line: Line) => void;
};

export type SqsHandler = (
  event: SQSEvent,
  context: Pick<Context, "awsRequestId" | "getRemainingTimeInMillis">,
) => Promise<SQSBatchResponse>;

/**
 * The handler. It answers with the SQS message ids of this batch that are not to be acknowledged.
 *
 * @throws an error named Unavailable when every delivery backs off as unavailable.
 */
export function createSqsHandler<Result>(consumer: Consumer<Result>): SqsHandler {
  const { queue, timings, now, random, write } = consumer;
  return async (event, context) => {
    const requestId = context.awsRequestId;
    const remainingMs = () => context.getRemainingTimeInMillis();
    const batch = { requestId, remainingMs, once: createOncePerKey<Result>() };

    const deliveries = event.Records.map(deliveryOf);
    const results = await Promise.all(
      deliveries.map(async (delivery) => ({
        delivery,
        ...(await processOne(delivery, batch, consumer)),
      })),
    );
    for (const { line } of results) write(line);
    const retries = results.flatMap(({ delivery, disposition }) => {
      const { receiveCount } = delivery;
      const delaySeconds = retryDelaySeconds(disposition, receiveCount, timings, now(), random());
      return delaySeconds === undefined ? [] : [{ delivery, delaySeconds }];
    });
    await setVisibilityTimeouts(retries, queue, remainingMs() / 2, (code) => {
      const message = "could not set a visibility timeout; the queue's own applies";
      write({ timestamp: new Date(now()).toISOString(), level: "WARN", message, code, requestId });
    });

    if (results.length > 0 && results.every(isUnavailable)) {
      // Lambda's pollers slow down on errors; on partial failures they do not.
      throw Object.assign(
        new Error(
          `A service that every message needs was unavailable for all ${results.length} messages; they come back later.`,
        ),
        { name: "Unavailable" }, // a class of that name would be minified
      );
    }
    return {
      batchItemFailures: retries.map(({ delivery }) => ({ itemIdentifier: delivery.sqsMessageId })),
    };
  };
}

const isUnavailable = ({ disposition }: Processed): boolean =>
  disposition.kind === "backoff" && disposition.unavailable === true;

/** A bug that one delivery hits must not bring the others back too. */
async function processOne<Result>(
  delivery: Delivery,
  batch: Batch<Result>,
  { process, now }: Consumer<Result>,
): Promise<Processed> {
  try {
    return await process(delivery, batch);
  } catch (cause) {
    const line = {
      timestamp: new Date(now()).toISOString(),
      level: "ERROR",
      message: "a delivery failed unexpectedly; it comes back later",
      // By name only: an error's text may quote the message.
      code: cause instanceof Error ? cause.name : typeof cause,
      sqsMessageId: delivery.sqsMessageId,
      requestId: batch.requestId,
    };
    return { disposition: { kind: "backoff" }, line };
  }
}
