// The SQS → Lambda event source mapping: polls the queue, invokes the function with batches,
// deletes what it answered for, and slows down while it fails.
import type { Message } from "@aws-sdk/client-sqs";

import { startBackOff } from "./backoff.ts";
import { createDelivery } from "./delivery.ts";
import type { EventSourceEvent } from "./events.ts";
import { functionSettings } from "./function-settings.ts";
import { startFunction } from "./function.ts";
import type { LambdaFunction } from "./function.ts";
import { gatherBatch } from "./gather.ts";
import type { LogLine } from "./invocation.ts";
import { openQueue } from "./queue-client.ts";

export type EventSourceOptions = {
  queueUrl: string;
  queueArn: string;
  /** Base URL of the SQS server. */
  endpoint: string;
  /** Absolute path of the CommonJS file that exports `handler`. */
  bundle: string;
  /** The function's environment variables; nothing else of this process reaches it. */
  env: Record<string, string>;
  functionTimeoutMs: number;
  /** Most messages in an invocation; above 10 a window is needed, as in AWS. */
  batchSize: number;
  /** How long a batch may gather, s; 0 sends what one receive returned. */
  batchWindowSeconds: number;
  /** Most invocations in flight (`MaximumConcurrency`). */
  concurrency: number;
  /** The pause after failed invocations, ms: the first and the longest. */
  backOffMs?: { base: number; max: number };
  onEvent?: (event: EventSourceEvent) => void;
  onLog?: (line: LogLine) => void;
};

export type EventSource = {
  kill: LambdaFunction["kill"];
  /** Resolves once no invocation and no delete is in flight. */
  idle(): Promise<void>;
  /** Polls no more, gives invocations in flight `graceMs` (5,000) to end, kills the rest. */
  stop(graceMs?: number): Promise<void>;
};

const RECEIVE_RETRY_MS = 500;

/**
 * Starts polling at once.
 *
 * @throws Error when the batch size needs a window
 */
export function startEventSource(options: EventSourceOptions): EventSource {
  const { batchSize, batchWindowSeconds, concurrency, queueArn } = options;
  if (batchSize > 10 && batchWindowSeconds < 1) {
    throw new Error(
      `batchSize ${batchSize} needs a batchWindowSeconds of at least 1: one receive returns at most 10 messages.`,
    );
  }
  const emit = (event: EventSourceEvent): void => options.onEvent?.(event);
  const queue = openQueue(options.endpoint, options.queueUrl);
  const lambda = startFunction(
    functionSettings({
      bundle: options.bundle,
      timeoutMs: options.functionTimeoutMs,
      env: options.env,
    }),
    (line) => options.onLog?.(line),
  );
  const backOff = startBackOff({
    ...(options.backOffMs ?? { base: 200, max: 5_000 }),
    concurrency,
    now: () => performance.now(),
  });

  const deliver = createDelivery({ queue, queueArn, lambda, backOff, emit });

  const stopping = new AbortController();
  const inFlight = new Set<Promise<void>>();
  let pause = Promise.withResolvers<void>();

  /** Sleeps until an invocation ends, `ms` have passed or the event source stops. */
  async function rest(ms?: number): Promise<void> {
    pause = Promise.withResolvers<void>();
    const timer = ms === undefined ? undefined : setTimeout(pause.resolve, ms);
    await pause.promise;
    clearTimeout(timer);
  }

  async function step(): Promise<void> {
    if (inFlight.size >= backOff.concurrency()) return rest();
    if (backOff.remainingMs() > 0) return rest(backOff.remainingMs());
    let batch: Message[];
    try {
      batch = await gatherBatch(queue, batchSize, batchWindowSeconds, stopping.signal);
    } catch (error) {
      if (stopping.signal.aborted) return undefined;
      emit({ type: "queue-error", action: "receive", message: String(error) });
      return rest(RECEIVE_RETRY_MS);
    }
    if (batch.length === 0) return undefined;
    const delivery = deliver(batch).finally(() => {
      inFlight.delete(delivery);
      pause.resolve();
    });
    inFlight.add(delivery);
    return undefined;
  }

  async function poll(): Promise<void> {
    while (!stopping.signal.aborted) await step();
  }
  const polling = poll();

  async function idle(): Promise<void> {
    while (inFlight.size > 0) await Promise.all(inFlight);
  }

  return {
    kill: (text, signal) => lambda.kill(text, signal),
    idle,
    async stop(graceMs = 5_000) {
      stopping.abort();
      pause.resolve();
      await polling;
      const timer = setTimeout(() => void lambda.stop(), graceMs);
      await idle();
      clearTimeout(timer);
      await lambda.stop();
      queue.close();
    },
  };
}
