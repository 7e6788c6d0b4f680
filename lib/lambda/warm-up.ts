// What a function does in init so that its first batch is fast. Lambda gives init a whole CPU and a
// handler only its memory's share, and code is slowest when it runs for the first time: connections
// are opened here, and with little memory one batch runs against a stub inside this process.

import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

import type { SQSBatchResponse, SQSEvent, SQSRecord } from "aws-lambda";

import type { LogLine } from "./emf.ts";

type Handler = (
  event: SQSEvent,
  context: { awsRequestId: string; getRemainingTimeInMillis: () => number },
) => Promise<SQSBatchResponse>;

export type FirstUse = {
  /** Makes the handler with every service at this address. */
  compose: (stub: URL) => Handler;
  /** Bodies of messages that the handler acknowledges, given what the stub answers. */
  bodies: string[];
  /** The stub's answer to every request. */
  reply: string;
};

const WARM_UP_MS = 3_000;

// The batch takes 56 ms of CPU in init and saves 30 ms in the handler, which gets a whole CPU with
// 1,769 MB and its share with less: from about 950 MB on it costs more than it saves. Connections take
// 27 ms and save 38: they pay at any size. (Each part alone, lower quartile of 12 interleaved starts.)
const FIRST_BATCH_BELOW_MB = 1_024;

/**
 * A warm-up that makes the first batch faster, and cannot fail: what goes wrong shows in the log.
 * Each of `steps` gets the time that it may take, in ms; the batch runs where there is little memory.
 */
export function createWarmUp(
  memoryMb: number,
  firstUse: FirstUse,
  steps: readonly ((timeoutMs: number) => Promise<unknown>)[],
  write: (line: LogLine) => void,
): () => Promise<void> {
  return async () => {
    const results = await Promise.allSettled([
      ...steps.map((step) => step(WARM_UP_MS)),
      ...(memoryMb < FIRST_BATCH_BELOW_MB ? [runFirstBatch(firstUse, WARM_UP_MS)] : []),
    ]);
    for (const result of results) {
      if (result.status === "fulfilled") continue;
      const reason = result.reason instanceof Error ? result.reason.message : "unknown";
      write({ level: "WARN", message: `the first batch will be slower: ${reason}` });
    }
  };
}

/**
 * Runs one batch against the stub, within `timeoutMs`.
 *
 * @throws Error when a message of the batch was not acknowledged, or not in time
 */
export async function runFirstBatch(
  { compose, bodies, reply }: FirstUse,
  timeoutMs: number,
): Promise<void> {
  const stub = createServer((request, response) => {
    request.resume().once("end", () => response.end(reply));
  });
  await new Promise<void>((resolve, reject) => {
    stub.once("error", reject).listen(0, "127.0.0.1", resolve);
  });
  try {
    const { port } = stub.address() as AddressInfo;
    const handler = compose(new URL(`http://127.0.0.1:${port}`));
    const context = { awsRequestId: "warm-up", getRemainingTimeInMillis: () => 15 * 60 * 1_000 };
    const event = { Records: bodies.map((body, index) => record(String(index), body)) };
    const { batchItemFailures } = await inTime(handler(event, context), timeoutMs);
    if (batchItemFailures.length > 0) throw new Error("a message was not acknowledged");
  } finally {
    stub.closeAllConnections();
    stub.close();
  }
}

function record(messageId: string, body: string): SQSRecord {
  const attributes = { ApproximateReceiveCount: "1" };
  return { messageId, receiptHandle: "", body, attributes } as SQSRecord;
}

function inTime<T>(work: Promise<T>, timeoutMs: number): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error(`not done after ${timeoutMs} ms`)), timeoutMs);
  return Promise.race([work, promise]).finally(() => clearTimeout(timer));
}
