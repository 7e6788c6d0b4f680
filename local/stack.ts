// Everything that the functions have around them in AWS, on this machine: table, queues, Stripe, and
// the functions themselves with their triggers. On 127.0.0.1, and gone when its process is gone.
import { existsSync } from "node:fs";

import { startSchedule } from "./event-source/schedule.ts";
import { startStreamSource } from "./event-source/stream-source.ts";
import { createFeed } from "./feed.ts";
import type { Feed } from "./feed.ts";
import { hostBehindUrl, hostOn, hostOnQueue } from "./hosted-function.ts";
import type { FunctionSpec, HostedFunction } from "./hosted-function.ts";
import { paymentWorker } from "./payment-worker.ts";
import type { Queues, QueueServer } from "./queue/server.ts";
import { ORDERS_TABLE, OUTCOME_BUS, REPORT_BUCKET, startServers } from "./servers.ts";
import type { ServerOptions, Servers } from "./servers.ts";
import type { StackEvent } from "./stack-event.ts";

export type StackOptions = ServerOptions & {
  /** When absent, the payment worker of LOCAL_WORKER; `stack.worker` is the first. */
  functions?: readonly [WorkerSpec, ...FunctionSpec[]];
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

type Running = { hosted: HostedFunction; queues?: Queues };

type WorkerSpec = ReturnType<typeof paymentWorker>;

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
    const start = async (spec: FunctionSpec): Promise<Running> => {
      const running = await startOne(spec, servers, feed.publish);
      started.push(() => running.hosted.stop());
      return running;
    };
    const [first, ...others] = specs;
    const worker = await start(first);
    const { queues } = worker;
    if (!queues) throw new Error("Bug! The worker has no queue.");
    const all: Running[] = [worker];
    for (const spec of others) all.push(await start(spec));

    return {
      ...servers,
      feed,
      functions: all.map(({ hosted }) => hosted),
      worker: worker.hosted,
      queues,
      async drained(timeoutMs) {
        const giveUpAt = performance.now() + timeoutMs;
        // What one function leaves behind may be the next one's work, and so on around.
        for (let round = 0; round <= all.length; round++) {
          for (const { hosted, queues } of all) {
            if (queues) await emptied(servers.queue, queues.queueUrl, timeoutMs, giveUpAt);
            await hosted.idle();
          }
          await servers.bus.bus.idle();
          await servers.stripe.webhooks.idle();
        }
      },
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Points a function at the servers and starts it with what triggers it. */
async function startOne(
  spec: FunctionSpec,
  servers: Servers,
  publish: (event: StackEvent) => void,
): Promise<Running> {
  const { table, tableName, queue, stripe, bus, objects } = servers;
  const { trigger } = spec;
  const queueUrl = (name: string) => `${queue.url}/000000000000/${name}`;
  const env = {
    AWS_LAMBDA_FUNCTION_NAME: spec.name,
    AWS_REGION: "us-east-1",
    AWS_ACCESS_KEY_ID: "local",
    AWS_SECRET_ACCESS_KEY: "local",
    AWS_ENDPOINT_URL_DYNAMODB: table.url,
    AWS_ENDPOINT_URL_SQS: queue.url,
    AWS_ENDPOINT_URL_EVENTBRIDGE: bus.url,
    AWS_ENDPOINT_URL_S3: objects.url,
    RECORDS_TABLE: tableName,
    ORDERS_TABLE,
    REPORT_BUCKET,
    ...(trigger.type !== "stream" && {
      QUEUE_URL: queueUrl(trigger.type === "queue" ? trigger.queue : "payments"),
    }),
    STRIPE_EVENTS_QUEUE_URL: queueUrl("stripe-events"),
    EVENT_BUS_NAME: OUTCOME_BUS,
    STRIPE_API_BASE: stripe.url,
    STRIPE_API_KEY: "sk_test_local",
    ...spec.env,
  };
  const on = (start: Parameters<typeof hostOn>[1]): Running => ({
    hosted: hostOn({ ...spec, env }, start, publish),
  });
  switch (trigger.type) {
    case "queue": {
      const queues = await queue.createQueues({ name: trigger.queue, ...trigger });
      const at = { ...queues, endpoint: queue.url };
      return { hosted: hostOnQueue({ ...spec, env }, at, trigger, publish), queues };
    }
    case "stream":
      return on((lambda) => startStreamSource(table.changes(tableName), trigger, lambda, publish));
    case "schedule":
      return on((lambda) => startSchedule(trigger, lambda, publish));
    case "url": {
      const envAt = async (url: string) => ({
        ...env,
        ...(trigger.stripeEvents && {
          STRIPE_WEBHOOK_SECRET: stripe.webhooks.register(url, trigger.stripeEvents),
        }),
      });
      return { hosted: await hostBehindUrl(spec, envAt, trigger, publish) };
    }
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
