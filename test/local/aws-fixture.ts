import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import type { DynamoDBClientConfig } from "@aws-sdk/client-dynamodb";
import { SQSClient } from "@aws-sdk/client-sqs";
import { DynamoDBDocumentClient } from "@aws-sdk/lib-dynamodb";
import { onTestFinished } from "vitest";

import { startQueue } from "../../local/queue/server.ts";
import { startTable } from "../../local/table/server.ts";

const ANYBODY = {
  region: "us-east-1",
  credentials: { accessKeyId: "local", secretAccessKey: "local" },
};

/** Has something done when a test is; a test that runs beside others passes its own `onTestFinished`. */
export type AtEnd = (end: () => void | Promise<void>) => void;

/** 2026-03-01T12:00:00Z: the time of the table's log and TTL deleter. */
export const NOW_MS = 1_772_366_400_000;

/** A table server of its own for this test with a table `records`, and a client that tries once. */
export async function startedTable(options: { now?: () => number } = {}) {
  const table = await startTable({ now: () => NOW_MS, ...options });
  onTestFinished(() => table.stop());
  await table.createRecordsTable("records");
  return { table, client: tableClient(table.url) };
}

export function tableClient(
  endpoint: string,
  config: DynamoDBClientConfig = {},
  atEnd: AtEnd = onTestFinished,
) {
  const client = new DynamoDBClient({ endpoint, maxAttempts: 1, ...ANYBODY, ...config });
  atEnd(() => client.destroy());
  return DynamoDBDocumentClient.from(client);
}

/** A queue server of its own for this test with the queues `payments` and `payments-dlq`, whose messages
 * go to the dead-letter queue after one receive if not said otherwise, and a client that tries once. */
export async function startedQueue(
  settings = { visibilityTimeoutSeconds: 30, maxReceiveCount: 1 },
) {
  const queue = await startQueue();
  onTestFinished(() => queue.stop());
  const queues = await queue.createQueues({ name: "payments", ...settings });
  return { queue, ...queues, client: queueClient(queue.url) };
}

export function queueClient(endpoint: string, atEnd: AtEnd = onTestFinished) {
  const client = new SQSClient({ endpoint, maxAttempts: 1, ...ANYBODY });
  atEnd(() => client.destroy());
  return client;
}

/** Resolves with the error of a call that must fail. */
export async function failureOf(call: Promise<unknown>): Promise<Error & Record<string, unknown>> {
  try {
    await call;
  } catch (error) {
    return error as Error & Record<string, unknown>;
  }
  throw new Error("The call succeeded, and it should have failed.");
}
