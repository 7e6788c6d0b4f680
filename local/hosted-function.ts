// A function and what triggers it, started and stopped together. A list of these is what a stack runs.
import { startQueueSource } from "./event-source/queue-source.ts";
import type { EventSource, QueueSourceSettings } from "./event-source/queue-source.ts";
import { startSchedule } from "./event-source/schedule.ts";
import type { ScheduleSettings } from "./event-source/schedule.ts";
import { startStreamSource } from "./event-source/stream-source.ts";
import type { StreamSourceSettings } from "./event-source/stream-source.ts";
import { startFunction } from "./function-host/function.ts";
import type { LambdaFunction } from "./function-host/function.ts";
import { startFunctionUrl } from "./function-url/server.ts";
import type { FunctionUrl } from "./function-url/server.ts";
import type { StackEvent } from "./stack-event.ts";
import type { ChangeLog } from "./table/change-log.ts";

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

export type HostedFunction = Pick<
  LambdaFunction,
  "name" | "invoke" | "provision" | "kill" | "configure" | "throttle"
> & {
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

/** Hosts a function whose events come from a queue, wherever that queue is. */
export function hostOnQueue(
  { bundle, timeoutMs, env }: Pick<FunctionSpec, "bundle" | "timeoutMs" | "env">,
  queue: { queueUrl: string; queueArn: string; endpoint: string },
  settings: QueueSourceSettings,
  publish: (event: StackEvent) => void = () => {},
): HostedFunction {
  const lambda = startFunction({ bundle, timeoutMs, env }, publish);
  const name = queue.queueUrl.slice(queue.queueUrl.lastIndexOf("/") + 1);
  return { ...host(lambda, env, startQueueSource(queue, settings, lambda, publish)), queue: name };
}

/** Hosts a function whose events are the changes of a table. */
export function hostOnStream(
  { bundle, timeoutMs, env }: Pick<FunctionSpec, "bundle" | "timeoutMs" | "env">,
  log: ChangeLog,
  settings: StreamSourceSettings,
  publish: (event: StackEvent) => void,
): HostedFunction {
  const lambda = startFunction({ bundle, timeoutMs, env }, publish);
  return host(lambda, env, startStreamSource(log, settings, lambda, publish));
}

/** Hosts a function that a timer invokes. */
export function hostOnSchedule(
  { bundle, timeoutMs, env }: Pick<FunctionSpec, "bundle" | "timeoutMs" | "env">,
  settings: ScheduleSettings,
  publish: (event: StackEvent) => void,
): HostedFunction {
  const lambda = startFunction({ bundle, timeoutMs, env }, publish);
  return host(lambda, env, startSchedule(settings, lambda, publish));
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
  const env = await envAt(front.url);
  const lambda = startFunction({ bundle, timeoutMs, env }, publish);
  made.resolve(lambda);
  const source = { idle: async () => {}, stop: () => front.stop() };
  return { ...host(lambda, env, source), url: front.url, faults: front.faults };
}

function host(
  lambda: LambdaFunction,
  env: Record<string, string>,
  source: EventSource,
): HostedFunction {
  return {
    name: lambda.name,
    env,
    invoke: (event, started) => lambda.invoke(event, started),
    provision: () => lambda.provision(),
    kill: (text, signal) => lambda.kill(text, signal),
    configure: (changes) => lambda.configure(changes),
    throttle: () => lambda.throttle(),
    idle: () => source.idle(),
    async stop(graceMs = 5_000) {
      const timer = setTimeout(() => void lambda.stop(), graceMs);
      await source.stop();
      clearTimeout(timer);
      await lambda.stop();
    },
  };
}
