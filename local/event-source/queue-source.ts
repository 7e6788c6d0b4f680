// The SQS → Lambda event source mapping: polls the queue, invokes the function with batches,
// deletes what it answered for, and slows down while it fails.
import type { Message } from "@aws-sdk/client-sqs";

import type { LambdaFunction } from "../function-host/function.ts";
import { startBackoff } from "./backoff.ts";
import { createDelivery } from "./delivery.ts";
import type { SourceEvent } from "./events.ts";
import { openQueue } from "./queue-client.ts";

export type QueueSourceSettings = {
  /** Most messages in an invocation, up to the 10 that one receive returns: no window gathers more. */
  batchSize: number;
  /** Most invocations in flight (`MaximumConcurrency`). */
  concurrency: number;
  /** The pause after failed invocations, ms: the first and the longest. */
  backoffMs?: { base: number; max: number };
};

/** What hands events to a function by itself. */
export type EventSource = {
  /** Resolves once no invocation and no delete is in flight. */
  idle: () => Promise<void>;
  /** Takes no more events; resolves when the invocations in flight have ended. */
  stop: () => Promise<void>;
};

const RECEIVE_RETRY_MS = 500;
// Real long polls wait up to 20 s. One second loses nothing here, and a server that does not notice
// a poller's end holds its last poll, and what it would receive, no longer than that.
const WAIT_SECONDS = 1;

/**
 * Starts polling at once.
 *
 * @param queue `endpoint` is the base URL of the SQS server
 * @throws Error when the batch size would need a window
 */
export function startQueueSource(
  queue: { queueUrl: string; queueArn: string; endpoint: string },
  settings: QueueSourceSettings,
  lambda: LambdaFunction,
  publish: (event: SourceEvent) => void,
): EventSource {
  const { batchSize, concurrency } = settings;
  if (batchSize > 10) {
    throw new Error(
      `batchSize ${batchSize} needs a window: one receive returns at most 10 messages.`,
    );
  }
  const client = openQueue(queue.endpoint, queue.queueUrl);
  const backoff = startBackoff({
    ...(settings.backoffMs ?? { base: 200, max: 5_000 }),
    concurrency,
    now: () => performance.now(),
  });
  const { queueArn } = queue;
  const deliver = createDelivery({ queue: client, queueArn, lambda, backoff, publish });

  const stopping = new AbortController();
  const inFlight = new Set<Promise<void>>();
  let pause = Promise.withResolvers<void>();

  /** Sleeps until an invocation ends, `ms` have passed or the source stops. */
  async function rest(ms?: number): Promise<void> {
    pause = Promise.withResolvers<void>();
    const timer = ms === undefined ? undefined : setTimeout(pause.resolve, ms);
    await pause.promise;
    clearTimeout(timer);
  }

  async function step(): Promise<void> {
    if (inFlight.size >= backoff.concurrency()) return rest();
    if (backoff.remainingMs() > 0) return rest(backoff.remainingMs());
    let batch: Message[];
    try {
      batch = await client.receive(batchSize, WAIT_SECONDS, stopping.signal);
    } catch (error) {
      if (stopping.signal.aborted) return undefined;
      publish({ type: "not received", function: lambda.name, message: String(error) });
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
    idle,
    async stop() {
      stopping.abort();
      pause.resolve();
      await polling;
      await idle();
      client.close();
    },
  };
}
