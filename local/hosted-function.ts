// A function and what triggers it, started and stopped together. A list of these is what a stack runs.
import { startQueueSource } from "./event-source/queue-source.ts";
import type { EventSource, QueueSourceSettings } from "./event-source/queue-source.ts";
import type { ScheduleSettings } from "./event-source/schedule.ts";
import type { StreamSourceSettings } from "./event-source/stream-source.ts";
import type { GivenSettings } from "./function-host/function-settings.ts";
import { startFunction } from "./function-host/function.ts";
import type { LambdaFunction } from "./function-host/function.ts";
import { startFunctionUrl } from "./function-url/server.ts";
import type { FunctionUrl } from "./function-url/server.ts";
import type { StackEvent } from "./stack-event.ts";

/** A function as a stack is asked for it. */
export type FunctionSpec = {
  name: string;
  /** Absolute path of the CommonJS file that exports `handler`. */
  bundle: string;
  timeoutMs: number;
  /** Its own variables, on top of those that point it at the stack. */
  env: Record<string, string>;
  trigger: QueueTrigger | StreamTrigger | UrlTrigger | ScheduleTrigger;
};

/** The stream of the records table. */
export type StreamTrigger = StreamSourceSettings & { type: "stream" };

/** A timer. */
export type ScheduleTrigger = ScheduleSettings & { type: "schedule" };

/** HTTP requests, at an address of the function's own. */
export type UrlTrigger = {
  type: "url";
  /** 0 or absent for any free one. */
  port?: number;
  /** Whether bodies come encoded, as AWS may send them. */
  base64?: boolean;
  /** The types of Stripe's events that are sent to it. */
  stripeEvents?: readonly string[];
};

/** A queue of the function's own, with a dead-letter queue named `<queue>-dlq`. */
export type QueueTrigger = QueueSourceSettings & {
  type: "queue";
  queue: string;
  visibilityTimeoutSeconds: number;
  maxReceiveCount: number;
};

export type HostedFunction = Omit<LambdaFunction, "stop"> & {
  /** All that its code sees of the machine. */
  env: Record<string, string>;
  /** The name of its queue, when its trigger is one. */
  queue?: string;
  /** Where it is reached, when its trigger is HTTP, and what happens to requests there. */
  url?: string;
  faults?: FunctionUrl["faults"];
  idle: EventSource["idle"];
  /** Takes no more events, gives invocations in flight `graceMs` (5,000) to end, kills the rest. */
  stop(graceMs?: number): Promise<void>;
};

/** Hosts a function, with the source of its events. */
export function hostOn(
  given: GivenSettings,
  start: (lambda: LambdaFunction) => EventSource,
  publish: (event: StackEvent) => void,
): HostedFunction {
  const lambda = startFunction(given, publish);
  const source = start(lambda);
  return {
    ...lambda,
    env: given.env,
    idle: source.idle,
    async stop(graceMs = 5_000) {
      const timer = setTimeout(() => void lambda.stop(), graceMs);
      await source.stop();
      clearTimeout(timer);
      await lambda.stop();
    },
  };
}

/** Hosts a function whose events come from a queue, wherever that queue is. */
export function hostOnQueue(
  given: GivenSettings,
  queue: { queueUrl: string; queueArn: string; endpoint: string },
  settings: QueueSourceSettings,
  publish: (event: StackEvent) => void = () => {},
): HostedFunction {
  const start = (lambda: LambdaFunction) => startQueueSource(queue, settings, lambda, publish);
  const name = queue.queueUrl.slice(queue.queueUrl.lastIndexOf("/") + 1);
  return { ...hostOn(given, start, publish), queue: name };
}

/**
 * Hosts a function whose events are HTTP requests. `envAt` makes its variables once its address is known.
 *
 * @throws when the port is taken
 */
export async function hostBehindUrl(
  { bundle, timeoutMs }: Pick<FunctionSpec, "bundle" | "timeoutMs">,
  envAt: (url: string) => Promise<Record<string, string>>,
  settings: UrlTrigger,
  publish: (event: StackEvent) => void,
): Promise<HostedFunction> {
  const made = Promise.withResolvers<LambdaFunction>();
  const front: FunctionUrl = await startFunctionUrl(
    async (event) => (await made.promise).invoke(event),
    {
      ...settings,
      onAnswer: (status) =>
        void made.promise.then(({ name }) =>
          publish({ type: "http answered", function: name, status }),
        ),
    },
  );
  const start = (lambda: LambdaFunction): EventSource => {
    made.resolve(lambda);
    return { idle: async () => {}, stop: front.stop };
  };
  const hosted = hostOn({ bundle, timeoutMs, env: await envAt(front.url) }, start, publish);
  return { ...hosted, url: front.url, faults: front.faults };
}
