// Everything that the worker has around it in AWS, on this machine: table, queues, Stripe, and an
// event source that runs the built bundle. On 127.0.0.1, and gone when its process is gone.
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

import type { EventSourceEvent } from "./event-source/events.ts";
import type { LogLine } from "./event-source/invocation.ts";
import { startEventSource } from "./event-source/server.ts";
import type { EventSource } from "./event-source/server.ts";
import { startQueue } from "./queue/server.ts";
import type { Queues, QueueServer } from "./queue/server.ts";
import { startStripe } from "./stripe/server.ts";
import type { StripeServer } from "./stripe/server.ts";
import { startTable } from "./table/server.ts";
import type { TableServer } from "./table/server.ts";
import { LOCAL_WORKER } from "./worker-settings.ts";
import type { WorkerSettings } from "./worker-settings.ts";

export type StackOptions = {
  /** 0 or absent for any free port. */
  ports?: { table?: number; queue?: number; stripe?: number };
  /** What is left out is as in LOCAL_WORKER, each variable of `env` too. */
  worker?: Partial<WorkerSettings>;
  /** Absolute path of another bundle than the built one. */
  bundle?: string;
  onEvent?: (event: EventSourceEvent) => void;
  onLog?: (line: LogLine) => void;
  /** The clock of the table and of Stripe, ms; the worker's and the queue's is the machine's. */
  now?: () => number;
};

export type Stack = {
  /** The environment that the worker runs with. */
  env: Record<string, string>;
  worker: WorkerSettings;
  /** Absolute path of the bundle that runs. */
  bundle: string;
  tableName: string;
  table: TableServer;
  queue: QueueServer;
  queues: Queues;
  stripe: StripeServer;
  eventSource: EventSource;
  /**
   * Resolves when the queue holds no message, visible, delayed or in flight, and no invocation runs.
   *
   * @throws Error when that is not so after `timeoutMs`
   */
  drained(timeoutMs: number): Promise<void>;
  stop(): Promise<void>;
};

const BUNDLE = fileURLToPath(new URL("../dist/payment-worker/index.js", import.meta.url));
const TABLE_NAME = "payment-records";
const DRAIN_POLL_MS = 20;

/**
 * Starts the stack with an empty table and empty queues.
 *
 * @throws Error when the bundle is not built or a port is taken; whatever had started is stopped
 */
export async function startStack(options: StackOptions = {}): Promise<Stack> {
  const bundle = options.bundle ?? BUNDLE;
  if (!existsSync(bundle)) {
    throw new Error(`There is no bundle at ${bundle}: run "npm run build" first.`);
  }
  const worker = { ...LOCAL_WORKER, ...options.worker };
  const clock = options.now && { now: options.now };
  const started: (() => Promise<void>)[] = [];
  // The event source first, while everything that it talks to is still there.
  const stop = async (): Promise<void> => {
    for (const stopOne of started.splice(0).toReversed()) await stopOne();
  };

  try {
    const stripe = await startStripe({ port: options.ports?.stripe ?? 0, ...clock });
    started.push(() => stripe.stop());
    const table = await startTable({ port: options.ports?.table ?? 0, ...clock });
    started.push(() => table.stop());
    const queue = await startQueue({ port: options.ports?.queue ?? 0 });
    started.push(() => queue.stop());

    await table.createRecordsTable(TABLE_NAME);
    const queues = await queue.createQueues({
      name: "payments",
      visibilityTimeoutSeconds: worker.visibilityTimeoutSeconds,
      maxReceiveCount: worker.maxReceiveCount,
    });
    const env = {
      AWS_LAMBDA_FUNCTION_NAME: "payment-worker",
      AWS_REGION: "us-east-1",
      AWS_ACCESS_KEY_ID: "local",
      AWS_SECRET_ACCESS_KEY: "local",
      AWS_ENDPOINT_URL_DYNAMODB: table.url,
      AWS_ENDPOINT_URL_SQS: queue.url,
      RECORDS_TABLE: TABLE_NAME,
      QUEUE_URL: queues.queueUrl,
      STRIPE_API_BASE: stripe.url,
      STRIPE_API_KEY: "sk_test_local",
      ...LOCAL_WORKER.env,
      ...options.worker?.env,
    };
    const eventSource = startEventSource({
      queueUrl: queues.queueUrl,
      queueArn: queues.queueArn,
      endpoint: queue.url,
      bundle,
      env,
      functionTimeoutMs: worker.functionTimeoutMs,
      batchSize: worker.batchSize,
      batchWindowSeconds: worker.batchWindowSeconds,
      concurrency: worker.concurrency,
      ...(options.onEvent && { onEvent: options.onEvent }),
      ...(options.onLog && { onLog: options.onLog }),
    });
    started.push(() => eventSource.stop());

    const drained = async (timeoutMs: number): Promise<void> => {
      const giveUpAt = performance.now() + timeoutMs;
      for (;;) {
        const { visible, inFlight, delayed } = await queue.depth(queues.queueUrl);
        if (visible + inFlight + delayed === 0) break;
        if (performance.now() > giveUpAt) {
          throw new Error(
            `After ${timeoutMs / 1000} s the queue still holds messages: ${visible} visible, ${inFlight} in flight, ${delayed} delayed.`,
          );
        }
        await new Promise((resolve) => setTimeout(resolve, DRAIN_POLL_MS));
      }
      await eventSource.idle();
    };

    return {
      env,
      worker: { ...worker, env },
      bundle,
      tableName: TABLE_NAME,
      table,
      queue,
      queues,
      stripe,
      eventSource,
      drained,
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}
