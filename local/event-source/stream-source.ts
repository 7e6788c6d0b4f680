// The DynamoDB stream → Lambda event source mapping: reads one shard in order, retries from the lowest
// failure, splits what fails as a whole, and keeps what never succeeds.
// https://docs.aws.amazon.com/lambda/latest/dg/services-dynamodb-errors.html
import { setImmediate, setTimeout as sleep } from "node:timers/promises";

import type { LambdaFunction } from "../function-host/function.ts";
import type { Change, ChangeLog } from "../table/change-log.ts";
import { readBatchResult } from "./batch-response.ts";
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
};

/** Starts at the oldest record that is kept, as TRIM_HORIZON does. */
export function startStreamSource(
  log: ChangeLog,
  settings: StreamSourceSettings,
  lambda: LambdaFunction,
  publish: (event: SourceEvent) => void,
): EventSource {
  const { batchSize, retryAttempts, retryPauseMs, filter = () => true } = settings;
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
      if (left.length > 0 && attempt >= retryAttempts) {
        return publish({ type: "given up", function: lambda.name, count: left.length });
      }
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
    const messageIds = messages.map(({ messageId }) => messageId);
    const answer = readBatchResult(result, messageIds);
    if (!answer.valid) {
      const reason = result.ok ? "invalid-response" : result.reason;
      publish({ type: "failed", ...about, reason, message: answer.problem, messages });
      return "all";
    }
    publish({ type: "responded", ...about, messageIds, failures: answer.failed });
    // Lambda checkpoints at the lowest.
    return Math.min(records.length, ...answer.failed.map((id) => messageIds.indexOf(id)));
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
