// A Lambda function: as many execution environments as there are concurrent invocations, reused while
// warm. Whatever triggers it calls `invoke`.
import { randomUUID } from "node:crypto";

import type { FunctionEvent } from "./events.ts";
import { startEnvironment } from "./execution-environment.ts";
import type { ExecutionEnvironment } from "./execution-environment.ts";
import { functionSettings } from "./function-settings.ts";
import type { GivenSettings } from "./function-settings.ts";
import type { Failure, InvocationResult } from "./invocation.ts";

export type LambdaFunction = {
  name: string;
  /** `started` hears of the environment before the event reaches it. Never rejects. */
  invoke(
    event: unknown,
    started?: (at: { requestId: string; cold: boolean; pid: number }) => void,
  ): Promise<InvocationResult>;
  /** Starts an environment before any event, as provisioned concurrency does; returns its process id. */
  provision(): number;
  /**
   * Signals the environments whose current event contains `text` (a message id, say), or every
   * one. SIGKILL when no signal is given. Returns the ids of the signaled processes.
   */
  kill(text?: string, signal?: NodeJS.Signals): number[];
  /** Sets variables, for environments that start from now on; those there end once they are idle, as
   * after a deployment. The answer takes the change back. */
  configure(changes: Record<string, string>): () => void;
  /** Invokes nothing any more, as without concurrency, until the answer is called. */
  throttle(): () => void;
  /** Kills every environment and waits until no process is left. */
  stop(): Promise<void>;
};

/** The event that an environment has now. */
type Use = { payload: string | undefined; retired?: boolean };

const THROTTLED: Failure = {
  reason: "throttle",
  errorType: "TooManyRequestsException",
  errorMessage: "Rate Exceeded.",
};

/** A function without an environment: unless one is provisioned, the first invocation is a cold start. */
export function startFunction(
  given: GivenSettings,
  publish: (event: FunctionEvent) => void,
): LambdaFunction {
  const settings = functionSettings(given);
  const name = settings.functionName;
  const environments = new Map<ExecutionEnvironment, Use>();
  let throttles = 0;

  function start(): ExecutionEnvironment {
    const environment = startEnvironment(settings, (line) =>
      publish({ type: "log", function: name, pid: environment.pid, ...line }),
    );
    const { pid } = environment;
    const use: Use = { payload: undefined };
    environments.set(environment, use);
    publish({ type: "environment started", function: name, pid });
    void watch(environment, use);
    return environment;
  }

  async function watch(environment: ExecutionEnvironment, use: Use): Promise<void> {
    const { pid } = environment;
    const how = await environment.exited;
    environments.delete(environment);
    const wasBusy = use.payload !== undefined;
    publish({ type: "environment ended", function: name, pid, how, wasBusy });
  }

  function acquire(): { environment: ExecutionEnvironment; cold: boolean } {
    for (const [environment, use] of environments) {
      if (use.payload === undefined && !use.retired && environment.alive())
        return { environment, cold: false };
    }
    return { environment: start(), cold: true };
  }

  function retire(): void {
    for (const [environment, use] of environments) {
      use.retired = true;
      if (use.payload === undefined) environment.kill("SIGKILL");
    }
  }

  return {
    name,

    async invoke(event, started) {
      const payload = JSON.stringify(event);
      const requestId = randomUUID();
      const startedAt = performance.now();
      const ended = (result: InvocationResult): InvocationResult => {
        publish({
          type: "invocation ended",
          function: name,
          requestId,
          ms: performance.now() - startedAt,
          result: result.ok ? "ok" : result.reason,
        });
        return result;
      };
      if (throttles > 0) return ended({ ok: false, requestId, ...THROTTLED });
      const { environment, cold } = acquire();
      const use = environments.get(environment) ?? { payload: undefined };
      use.payload = payload;
      started?.({ requestId, cold, pid: environment.pid });
      const result = await environment.invoke(payload, requestId);
      // One that is about to end was busy when its end began.
      if (environment.alive()) use.payload = undefined;
      if (use.retired) environment.kill("SIGKILL");
      return ended(result);
    },

    provision: () => start().pid,

    kill(text, signal = "SIGKILL") {
      const pids: number[] = [];
      for (const [environment, use] of environments) {
        if (text !== undefined && !use.payload?.includes(JSON.stringify(text).slice(1, -1))) {
          continue;
        }
        environment.kill(signal);
        pids.push(environment.pid);
      }
      return pids;
    },

    configure(changes) {
      const before = { ...settings.env };
      Object.assign(settings.env, changes);
      retire();
      return () => {
        for (const name of Object.keys(changes)) delete settings.env[name];
        Object.assign(settings.env, before);
        retire();
      };
    },

    throttle() {
      throttles += 1;
      return () => void (throttles -= 1);
    },

    async stop() {
      await Promise.all(
        [...environments.keys()].map((environment) => {
          environment.kill("SIGKILL");
          return environment.exited;
        }),
      );
    },
  };
}
