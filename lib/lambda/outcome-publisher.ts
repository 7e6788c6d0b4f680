// Outcome events as a user of the records table's stream.

import type { AttributeValue } from "@aws-sdk/client-dynamodb";
import { unmarshall } from "@aws-sdk/util-dynamodb";
import type { Context, DynamoDBBatchResponse, DynamoDBStreamEvent } from "aws-lambda";

import type { RecordedOutcome } from "../outcomes/event.ts";
import { firstFailure, publishChanges } from "../outcomes/publish.ts";
import type { OutcomeBus, PublishResult, RecordChange } from "../outcomes/publish.ts";
import { count, embedMetrics } from "./emf.ts";
import type { LogLine } from "./emf.ts";

export type OutcomePublisherDeps = {
  bus: OutcomeBus;
  /** The `source` of every event, such as `urn:payment-worker:prod`. */
  source: string;
  functionName: string;
  /** One call to the bus in total, in ms. */
  callTimeoutMs: number;
  /** Epoch ms. */
  now: () => number;
  write: (line: LogLine) => void;
};

/**
 * The handler. It answers with the lowest sequence number that failed, where Lambda goes on.
 *
 * @throws an error named NotPublished when that is the first of several: Lambda then splits the batch,
 *   until a record that can never be published is alone.
 */
export function createOutcomePublisher(deps: OutcomePublisherDeps) {
  return async (
    event: DynamoDBStreamEvent,
    context: Pick<Context, "awsRequestId">,
  ): Promise<DynamoDBBatchResponse> => {
    const changes = event.Records.map(readChange);
    const results = await publishChanges(changes, deps.source, deps.bus, () => deps.callTimeoutMs);
    for (const result of results) {
      const line = lineOf(result, deps, context.awsRequestId);
      if (line) deps.write(line);
    }
    const failed = firstFailure(results);
    if (failed === undefined) return { batchItemFailures: [] };
    if (failed === results[0]?.sequenceNumber && results.length > 1) {
      throw Object.assign(new Error("The first outcome event of a batch was not published."), {
        name: "NotPublished",
      });
    }
    return { batchItemFailures: [{ itemIdentifier: failed }] };
  };
}

function readChange({ dynamodb }: DynamoDBStreamEvent["Records"][number]): RecordChange {
  const before = image(dynamodb?.OldImage);
  const after = image(dynamodb?.NewImage);
  return {
    sequenceNumber: dynamodb?.SequenceNumber ?? "",
    ...(before && { before }),
    ...(after && { after }),
  };
}

function image(attributes: unknown): Partial<RecordedOutcome> | undefined {
  return attributes ? unmarshall(attributes as Record<string, AttributeValue>) : undefined;
}

function lineOf(
  result: PublishResult,
  { now: clock, functionName }: OutcomePublisherDeps,
  requestId: string,
): LogLine | undefined {
  if (result.decision === "unchanged") return undefined;
  const now = clock();
  const { decision, messageId, sequenceNumber } = result;
  const about = { decision, messageId, sequenceNumber, requestId };
  const timestamp = new Date(now).toISOString();
  if (decision === "failed") {
    return {
      timestamp,
      level: "WARN",
      message: "an outcome event was not published; it comes again",
      ...about,
      code: result.code,
      ...embedMetrics([count("PublishFailed")], functionName, now),
    };
  }
  const { id, type } = result.event;
  return {
    timestamp,
    level: "INFO",
    message: `published ${type}`,
    ...about,
    eventId: id,
    ...embedMetrics([count("Published")], functionName, now),
  };
}
