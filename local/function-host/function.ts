// A Lambda function: as many execution environments as there are concurrent invocations, reused while
// warm. Whatever triggers it calls `invoke`.
import { randomUUID } from "node:crypto";

import type { FunctionEvent } from "./events.ts";
import { startEnvironment } from "./execution-environment.ts";
import type { ExecutionEnvironment } from "./execution-environment.ts";
import { functionSettings } from "./function-settings.ts";
import type { GivenSettings } from "./function-settings.ts";
import type { InvocationResult } from "./invocation.ts";

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
  /** Kills every environment and waits until no process is left. */
  stop(): Promise<void>;
};

/** The event that an environment has now. */
type Use = { payload: string | undefined };

/** A function without an environment: unless one is provisioned, the first invocation is a cold start. */
export function startFunction(
  given: GivenSettings,
  publish: (event: FunctionEvent) => void,
): LambdaFunction {
  const settings = functionSettings(given);
  const name = settings.functionName;
  const environments = new Map<ExecutionEnvironment, Use>();

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
      if (use.payload === undefined && environment.alive()) return { environment, cold: false };
    }
    return { environment: start(), cold: true };
  }

  return {
    name,

    async invoke(event, started) {
      const payload = JSON.stringify(event);
      const requestId = randomUUID();
      const { environment, cold } = acquire();
      const use = environments.get(environment) ?? { payload: undefined };
      use.payload = payload;
      started?.({ requestId, cold, pid: environment.pid });
      const result = await environment.invoke(payload, requestId);
      // One that is about to end was busy when its end began.
      if (environment.alive()) use.payload = undefined;
      return result;
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
