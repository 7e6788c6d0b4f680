// The DynamoDB stream → Lambda event source mapping: reads one shard in order, retries from the lowest
// failure, splits what fails as a whole, and keeps what never succeeds.
// https://docs.aws.amazon.com/lambda/latest/dg/services-dynamodb-errors.html
import { setImmediate, setTimeout as sleep } from "node:timers/promises";

import type { LambdaFunction } from "../function-host/function.ts";
import type { InvocationResult } from "../function-host/invocation.ts";
import type { Change, ChangeLog } from "../table/change-log.ts";
import type { SourceEvent } from "./events.ts";
import type { EventSource } from "./queue-source.ts";

export type StreamSourceSettings = {
  batchSize: number;
  /** How often a batch is tried again before it is given up. */
  retryAttempts: number;
  /** The pause before a retry, ms: it doubles up to a hundredfold. */
  retryPauseMs: number;
  /** Which records reach the function; the others are passed over. */
  filter?: (change: Change) => boolean;
  /** Gets a batch that was given up, whole, as the invocation record in S3 holds it. */
  onFailure?: (record: FailureRecord) => void;
};

/** The part of Lambda's invocation record that an operator reads. */
export type FailureRecord = {
  requestContext: { condition: "RetryAttemptsExhausted"; approximateInvokeCount: number };
  timestamp: string;
  DDBStreamBatchInfo: { batchSize: number; startSequenceNumber: string; endSequenceNumber: string };
  payload: { Records: readonly Change[] };
};

/** Starts at the oldest record that is kept, as TRIM_HORIZON does. */
export function startStreamSource(
  log: ChangeLog,
  settings: StreamSourceSettings,
  lambda: LambdaFunction,
  publish: (event: SourceEvent) => void,
): EventSource {
  const { batchSize, retryAttempts, retryPauseMs, filter = () => true, onFailure } = settings;
  const stopping = new AbortController();
  const stopped = () => stopping.signal.aborted;
  let checkpoint: string | undefined;
  let wake = Promise.withResolvers<void>();
  // Resolves when everything has been read and delivered.
  let rested = Promise.withResolvers<void>();
  const unsubscribe = log.subscribe(() => wake.resolve());

  async function pause(ms: number): Promise<void> {
    await sleep(ms, undefined, { signal: stopping.signal }).catch(() => {});
  }

  /** Delivers a batch until all of it is done or given up. */
  async function deliver(records: readonly Change[]): Promise<void> {
    let left = records;
    for (let attempt = 0; left.length > 0 && !stopped(); attempt++) {
      if (attempt > 0) await pause(retryPauseMs * Math.min(100, 2 ** (attempt - 1)));
      if (stopped()) return;
      const failed = await invoke(left);
      if (failed === "all" && left.length > 1) {
        // Splitting does not use up a retry.
        const middle = Math.ceil(left.length / 2);
        await deliver(left.slice(0, middle));
        return deliver(left.slice(middle));
      }
      const from = failed === "all" ? 0 : failed;
      if (from > 0) attempt = 0; // a batch that starts later is another batch
      left = left.slice(from);
      if (left.length > 0 && attempt >= retryAttempts) return giveUp(left, attempt + 1);
    }
  }

  /** The index of the first record that is to come again; "all" when the invocation failed. */
  async function invoke(records: readonly Change[]): Promise<number | "all"> {
    const messages = records.map(({ dynamodb }) => ({
      messageId: dynamodb.SequenceNumber,
      receiptHandle: "",
      body: JSON.stringify(dynamodb.Keys),
      receiveCount: 1,
    }));
    const result = await lambda.invoke({ Records: records }, (at) =>
      publish({ type: "invoked", function: lambda.name, ...at, messages, ageMs: ageOf(records) }),
    );
    const about = { function: lambda.name, requestId: result.requestId };
    const failures = failuresOf(result);
    if (failures === undefined) {
      const reason = result.ok ? ("invalid-response" as const) : result.reason;
      const message = result.ok ? "not a batch response" : result.errorMessage;
      publish({ type: "failed", ...about, reason, message, messages });
      return "all";
    }
    const messageIds = messages.map(({ messageId }) => messageId);
    publish({ type: "responded", ...about, messageIds, failures });
    if (failures.length === 0) return records.length;
    // Lambda checkpoints at the lowest; a number that is not of this batch fails all of it.
    const indexes = failures.map((id) => messageIds.indexOf(id));
    return indexes.includes(-1) ? "all" : Math.min(...indexes);
  }

  function giveUp(records: readonly Change[], invocations: number): void {
    publish({ type: "given up", function: lambda.name, count: records.length });
    const numbers = records.map(({ dynamodb }) => dynamodb.SequenceNumber);
    onFailure?.({
      requestContext: {
        condition: "RetryAttemptsExhausted",
        approximateInvokeCount: invocations,
      },
      timestamp: new Date().toISOString(),
      DDBStreamBatchInfo: {
        batchSize: records.length,
        startSequenceNumber: numbers[0] ?? "",
        endSequenceNumber: numbers.at(-1) ?? "",
      },
      payload: { Records: records },
    });
  }

  async function poll(): Promise<void> {
    while (!stopped()) {
      wake = Promise.withResolvers<void>();
      const records = log.after(checkpoint, batchSize);
      if (records.length === 0) {
        rested.resolve();
        await wake.promise;
        rested = Promise.withResolvers<void>();
        continue;
      }
      const wanted = records.filter(filter);
      if (wanted.length > 0) await deliver(wanted);
      checkpoint = records.at(-1)?.dynamodb.SequenceNumber;
    }
    rested.resolve();
  }
  const polling = poll();

  return {
    async idle() {
      while (!stopped() && log.after(checkpoint, 1).length > 0) {
        wake.resolve();
        await setImmediate();
        await rested.promise;
      }
    },
    async stop() {
      stopping.abort();
      unsubscribe();
      wake.resolve();
      await polling;
    },
  };
}

/** Of the oldest, ms; a stream knows the time of a change to the second. */
function ageOf([oldest]: readonly Change[]): number {
  return oldest ? Date.now() - 1_000 * oldest.dynamodb.ApproximateCreationDateTime : 0;
}

/** The sequence numbers that the function answered with; undefined when the invocation failed. */
function failuresOf(result: InvocationResult): string[] | undefined {
  if (!result.ok) return undefined;
  const answer = JSON.parse(result.payload || "null") as {
    batchItemFailures?: { itemIdentifier?: string }[] | null;
  } | null;
  const failures = (answer?.batchItemFailures ?? []).map(({ itemIdentifier }) => itemIdentifier);
  return failures.every((id) => id !== undefined && id !== "") ? (failures as string[]) : undefined;
}
