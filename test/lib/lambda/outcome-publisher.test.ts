import { marshall } from "@aws-sdk/util-dynamodb";
import type { DynamoDBStreamEvent } from "aws-lambda";
import { expect, test } from "vitest";

import type { LogLine } from "../../../lib/lambda/emf.ts";
import { createOutcomePublisher } from "../../../lib/lambda/outcome-publisher.ts";

const NOW = Date.parse("2026-11-30T12:00:00Z");
const PAID = { result: "succeeded", paymentIntentId: "pi_1" };

/** The stream's record of a claim `id` that was completed. */
const completed = (SequenceNumber: string, messageId: string, more: object = {}) => ({
  eventName: "MODIFY" as const,
  dynamodb: {
    SequenceNumber,
    OldImage: marshall({ messageId, status: "IN_PROGRESS" }),
    NewImage: marshall({ messageId, status: "COMPLETED", outcome: PAID, revision: 1, ...more }),
  },
});

/** Publishes records on a bus that fails for these ids. */
async function publish(records: unknown[], failing: readonly string[] = []) {
  const lines: LogLine[] = [];
  const published: string[] = [];
  const handle = createOutcomePublisher({
    bus: {
      async publish(events, timeoutMs) {
        expect(timeoutMs).toBe(1_000);
        published.push(...events.map(({ id }) => id));
        return events.map(({ subject }) =>
          failing.includes(subject) ? "InternalFailure" : undefined,
        );
      },
    },
    source: "urn:payment-worker:test",
    functionName: "publisher",
    callTimeoutMs: 1_000,
    now: () => NOW,
    write: (line) => lines.push(line),
  });
  const answer = handle({ Records: records } as DynamoDBStreamEvent, { awsRequestId: "request-1" });
  const result = await answer.catch((error: Error) => error.name);
  return { result, lines, published };
}

test("completed records are published, and each leaves a line with its metric", async () => {
  const { result, lines, published } = await publish([completed("1", "a"), completed("2", "b")]);
  expect(result).toEqual({ batchItemFailures: [] });
  expect(published).toEqual(["a:1", "b:1"]);
  expect(lines[0]).toEqual({
    timestamp: "2026-11-30T12:00:00.000Z",
    level: "INFO",
    message: "published payment.succeeded",
    decision: "published",
    messageId: "a",
    sequenceNumber: "1",
    requestId: "request-1",
    eventId: "a:1",
    FunctionName: "publisher",
    _aws: {
      Timestamp: NOW,
      CloudWatchMetrics: [
        {
          Namespace: "PaymentWorker",
          Dimensions: [["FunctionName"]],
          Metrics: [{ Name: "Published", Unit: "Count" }],
        },
      ],
    },
    Published: 1,
  });
});

test("the lowest sequence number that failed is where Lambda goes on", async () => {
  const records = [completed("1", "a"), completed("2", "b"), completed("3", "c")];
  const { result, lines } = await publish(records, ["b", "c"]);
  expect(result).toEqual({ batchItemFailures: [{ itemIdentifier: "2" }] });
  expect(lines.map(({ PublishFailed }) => PublishFailed)).toEqual([undefined, 1, 1]);
  expect(lines[1]).toMatchObject({
    level: "WARN",
    message: "an outcome event was not published; it comes again",
    messageId: "b",
    code: "InternalFailure",
  });
});

test("a first record that fails splits the batch, and alone it is named", async () => {
  const records = [completed("1", "a"), completed("2", "b")];
  expect((await publish(records, ["a"])).result).toBe("NotPublished");
  expect((await publish(records.slice(0, 1), ["a"])).result).toEqual({
    batchItemFailures: [{ itemIdentifier: "1" }],
  });
});

test("what does not change an outcome is neither published nor logged", async () => {
  const release = {
    eventName: "MODIFY",
    dynamodb: {
      SequenceNumber: "1",
      OldImage: marshall({ messageId: "a", status: "IN_PROGRESS", leaseExpiresAt: 5 }),
      NewImage: marshall({ messageId: "a", status: "IN_PROGRESS", leaseExpiresAt: 0 }),
    },
  };
  const expiry = {
    eventName: "REMOVE",
    dynamodb: { SequenceNumber: "2", OldImage: marshall({ messageId: "a", outcome: PAID }) },
  };
  const edited = completed("3", "a", { note: "checked by hand" });
  edited.dynamodb.OldImage = completed("3", "a").dynamodb.NewImage;
  const { result, lines, published } = await publish([release, expiry, edited]);
  expect([result, lines, published]).toEqual([{ batchItemFailures: [] }, [], []]);
});
