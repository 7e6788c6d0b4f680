// Everything that the functions have around them in AWS, on this machine: table, queues, Stripe, and
// the functions themselves with their triggers. On 127.0.0.1, and gone when its process is gone.
import { existsSync } from "node:fs";

import { createFeed } from "./feed.ts";
import type { Feed } from "./feed.ts";
import { hostOnQueue } from "./hosted-function.ts";
import type { FunctionSpec, HostedFunction } from "./hosted-function.ts";
import { paymentWorker } from "./payment-worker.ts";
import { startQueue } from "./queue/server.ts";
import type { Queues, QueueServer } from "./queue/server.ts";
import type { StackEvent } from "./stack-event.ts";
import { startStripe } from "./stripe/server.ts";
import type { StripeServer } from "./stripe/server.ts";
import { startTable } from "./table/server.ts";
import type { TableServer } from "./table/server.ts";

export type StackOptions = {
  /** 0 or absent for any free port. */
  ports?: { table?: number; queue?: number; stripe?: number };
  /** The payment worker as LOCAL_WORKER has it when absent; `stack.worker` is the first. */
  functions?: readonly [FunctionSpec, ...FunctionSpec[]];
  /** The clock of the table and of Stripe, ms; the functions' and the queue's is the machine's. */
  now?: () => number;
};

export type Stack = {
  /** What the servers and the function host saw. */
  feed: Feed<StackEvent>;
  tableName: string;
  table: TableServer;
  queue: QueueServer;
  stripe: StripeServer;
  functions: readonly HostedFunction[];
  /** The first of `functions`, and its queues. */
  worker: HostedFunction;
  queues: Queues;
  /**
   * Resolves when no function's queue holds a message, visible, delayed or in flight, and no
   * invocation runs.
   *
   * @throws Error when that is not so after `timeoutMs`
   */
  drained(timeoutMs: number): Promise<void>;
  stop(): Promise<void>;
};

const TABLE_NAME = "payment-records";
const DRAIN_POLL_MS = 20;

/**
 * Starts the stack with an empty table and empty queues.
 *
 * @throws Error when a bundle is not built or a port is taken; whatever had started is stopped
 */
export async function startStack(options: StackOptions = {}): Promise<Stack> {
  const specs = options.functions ?? ([paymentWorker()] as const);
  for (const { bundle } of specs) {
    if (!existsSync(bundle)) {
      throw new Error(`There is no bundle at ${bundle}: run "npm run build" first.`);
    }
  }
  const clock = options.now && { now: options.now };
  const feed = createFeed<StackEvent>();
  const started: (() => Promise<void>)[] = [];
  // The functions first, while everything that they talk to is still there.
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

    const surroundings = {
      AWS_REGION: "us-east-1",
      AWS_ACCESS_KEY_ID: "local",
      AWS_SECRET_ACCESS_KEY: "local",
      AWS_ENDPOINT_URL_DYNAMODB: table.url,
      AWS_ENDPOINT_URL_SQS: queue.url,
      RECORDS_TABLE: TABLE_NAME,
      STRIPE_API_BASE: stripe.url,
      STRIPE_API_KEY: "sk_test_local",
    };

    async function start(spec: FunctionSpec): Promise<{ hosted: HostedFunction; queues: Queues }> {
      const { trigger } = spec;
      const queues = await queue.createQueues({ name: trigger.queue, ...trigger });
      const env = {
        AWS_LAMBDA_FUNCTION_NAME: spec.name,
        ...surroundings,
        QUEUE_URL: queues.queueUrl,
        ...spec.env,
      };
      const at = { ...queues, endpoint: queue.url };
      const hosted = hostOnQueue({ ...spec, env }, at, trigger, feed.publish);
      started.push(() => hosted.stop());
      return { hosted, queues };
    }
    const [first, ...others] = specs;
    const { hosted: worker, queues } = await start(first);
    const functions = [{ hosted: worker, queues }];
    for (const spec of others) functions.push(await start(spec));

    return {
      feed,
      tableName: TABLE_NAME,
      table,
      queue,
      stripe,
      functions: functions.map(({ hosted }) => hosted),
      worker,
      queues,
      async drained(timeoutMs) {
        const giveUpAt = performance.now() + timeoutMs;
        for (const { hosted, queues } of functions) {
          await emptied(queue, queues.queueUrl, timeoutMs, giveUpAt);
          await hosted.idle();
        }
      },
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function emptied(
  queue: QueueServer,
  queueUrl: string,
  timeoutMs: number,
  giveUpAt: number,
): Promise<void> {
  for (;;) {
    const { visible, inFlight, delayed } = await queue.depth(queueUrl);
    if (visible + inFlight + delayed === 0) return;
    if (performance.now() > giveUpAt) {
      throw new Error(
        `After ${timeoutMs / 1000} s the queue still holds messages: ${visible} visible, ${inFlight} in flight, ${delayed} delayed.`,
      );
    }
    await new Promise((resolve) => setTimeout(resolve, DRAIN_POLL_MS));
  }
}
