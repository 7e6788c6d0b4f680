// Everything that the functions have around them in AWS, on this machine: table, queues, Stripe, and
// the functions themselves with their triggers. On 127.0.0.1, and gone when its process is gone.
import { existsSync } from "node:fs";

import { createFeed } from "./feed.ts";
import type { Feed } from "./feed.ts";
import { hostOnQueue, hostOnStream } from "./hosted-function.ts";
import type { FunctionSpec, HostedFunction, QueueTrigger } from "./hosted-function.ts";
import { paymentWorker } from "./payment-worker.ts";
import type { Queues, QueueServer } from "./queue/server.ts";
import { startServers } from "./servers.ts";
import type { ServerOptions, Servers } from "./servers.ts";
import type { StackEvent } from "./stack-event.ts";

type QueueFunction = FunctionSpec & { trigger: QueueTrigger };

export type StackOptions = ServerOptions & {
  /** The payment worker as LOCAL_WORKER has it when absent; `stack.worker` is the first. */
  functions?: readonly [QueueFunction, ...FunctionSpec[]];
};

export type Stack = Servers & {
  /** What the servers and the function host saw. */
  feed: Feed<StackEvent>;
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
  const feed = createFeed<StackEvent>();
  const started: (() => Promise<void>)[] = [];
  // The functions first, while everything that they talk to is still there.
  const stop = async (): Promise<void> => {
    for (const stopOne of started.splice(0).toReversed()) await stopOne();
  };

  try {
    const servers = await startServers(options, feed.publish, (stopOne) => started.push(stopOne));
    const functions: HostedFunction[] = [];
    const allQueues: Queues[] = [];
    for (const spec of specs) {
      const queues = await createQueues(spec, servers);
      const hosted = startOne(spec, servers, queues, feed.publish);
      started.push(() => hosted.stop());
      functions.push(hosted);
      if (queues) allQueues.push(queues);
    }
    const [worker] = functions;
    const [queues] = allQueues;
    if (!worker || !queues) throw new Error("Bug! The first function has no queue.");

    return {
      ...servers,
      feed,
      functions,
      worker,
      queues,
      async drained(timeoutMs) {
        const giveUpAt = performance.now() + timeoutMs;
        for (const { queueUrl } of allQueues) {
          await emptied(servers.queue, queueUrl, timeoutMs, giveUpAt);
        }
        for (const hosted of functions) await hosted.idle();
      },
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function createQueues(
  { trigger }: FunctionSpec,
  { queue }: Servers,
): Promise<Queues | undefined> {
  return trigger.type === "queue"
    ? queue.createQueues({ name: trigger.queue, ...trigger })
    : undefined;
}

/** Points a function at the servers and starts it with what triggers it. */
function startOne(
  spec: FunctionSpec,
  { table, tableName, queue, stripe }: Servers,
  queues: Queues | undefined,
  publish: (event: StackEvent) => void,
): HostedFunction {
  const env = {
    AWS_LAMBDA_FUNCTION_NAME: spec.name,
    AWS_REGION: "us-east-1",
    AWS_ACCESS_KEY_ID: "local",
    AWS_SECRET_ACCESS_KEY: "local",
    AWS_ENDPOINT_URL_DYNAMODB: table.url,
    AWS_ENDPOINT_URL_SQS: queue.url,
    RECORDS_TABLE: tableName,
    ...(queues && { QUEUE_URL: queues.queueUrl }),
    STRIPE_API_BASE: stripe.url,
    STRIPE_API_KEY: "sk_test_local",
    ...spec.env,
  };
  const code = { ...spec, env };
  const { trigger } = spec;
  if (trigger.type === "stream") {
    return hostOnStream(code, table.changes(tableName), trigger, publish);
  }
  if (!queues) throw new Error("Bug! The queue of a function was not created.");
  return hostOnQueue(code, { ...queues, endpoint: queue.url }, trigger, publish);
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
