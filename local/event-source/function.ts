// A Lambda function: as many sandboxes as there are concurrent invocations, reused while warm.
import { randomUUID } from "node:crypto";

import { startSandbox } from "./execution-environment.ts";
import type { Sandbox } from "./execution-environment.ts";
import type { FunctionSettings } from "./function-settings.ts";
import type { InvocationResult, LogLine } from "./invocation.ts";

export type LambdaFunction = {
  /** `started` hears of the sandbox before the event reaches it. Never rejects. */
  invoke(
    event: unknown,
    started?: (at: { requestId: string; cold: boolean; pid: number }) => void,
  ): Promise<InvocationResult>;
  /**
   * Signals the sandboxes whose current event contains `text` (a message id, say), or every
   * sandbox. SIGKILL when no signal is given. Returns the ids of the signalled processes.
   */
  kill(text?: string, signal?: NodeJS.Signals): number[];
  /** Kills every sandbox and waits until no process is left. */
  stop(): Promise<void>;
};

/** A function with no sandbox yet: the first invocation is a cold start. */
export function startFunction(
  settings: FunctionSettings,
  onLog: (line: LogLine) => void,
): LambdaFunction {
  const sandboxes = new Map<Sandbox, { payload: string | undefined }>();

  function acquire(): { sandbox: Sandbox; cold: boolean } {
    for (const [sandbox, use] of sandboxes) {
      if (use.payload === undefined && sandbox.alive()) return { sandbox, cold: false };
    }
    const sandbox = startSandbox(settings, onLog);
    sandboxes.set(sandbox, { payload: undefined });
    void sandbox.exited.then(() => sandboxes.delete(sandbox));
    return { sandbox, cold: true };
  }

  return {
    async invoke(event, started) {
      const payload = JSON.stringify(event);
      const requestId = randomUUID();
      const { sandbox, cold } = acquire();
      const use = sandboxes.get(sandbox) ?? { payload: undefined };
      use.payload = payload;
      started?.({ requestId, cold, pid: sandbox.pid });
      const result = await sandbox.invoke(payload, requestId);
      use.payload = undefined;
      return result;
    },

    kill(text, signal = "SIGKILL") {
      const pids: number[] = [];
      for (const [sandbox, use] of sandboxes) {
        if (text !== undefined && !use.payload?.includes(JSON.stringify(text).slice(1, -1))) {
          continue;
        }
        sandbox.kill(signal);
        pids.push(sandbox.pid);
      }
      return pids;
    },

    async stop() {
      await Promise.all(
        [...sandboxes.keys()].map((sandbox) => {
          sandbox.kill("SIGKILL");
          return sandbox.exited;
        }),
      );
    },
  };
}
