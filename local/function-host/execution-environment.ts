// One Lambda execution environment: a child process that loads the bundle and runs one invocation
// at a time, and that can time out, crash or be killed as the real one can.
import { fork } from "node:child_process";
import { randomUUID } from "node:crypto";
import { dirname } from "node:path";
import { createInterface } from "node:readline";

import { environmentVariables } from "./function-settings.ts";
import type { FunctionSettings } from "./function-settings.ts";
import type { Answer, Failure, InvocationResult, LogLine, Order, Report } from "./invocation.ts";

export type ExecutionEnvironment = {
  pid: number;
  /** Runs one invocation; never rejects. The environment must not be busy. */
  invoke(payload: string, requestId?: string): Promise<InvocationResult>;
  /** Sends the signal at once; SIGKILL leaves the code inside no chance to clean up. */
  kill(signal: NodeJS.Signals): void;
  alive(): boolean;
  /** Resolves with how, when the process is gone and its last line was handed to `onLog`. */
  exited: Promise<string>;
};

// Lambda gives the init phase 10 s of its own, outside the function's timeout.
// https://docs.aws.amazon.com/lambda/latest/dg/lambda-runtime-environment.html
const INIT_TIMEOUT_MS = 10_000;

/** Starts an execution environment; its init phase begins at once. */
export function startEnvironment(
  settings: FunctionSettings,
  onLog: (line: LogLine) => void,
): ExecutionEnvironment {
  const child = fork(new URL("./runtime.ts", import.meta.url), [settings.bundle], {
    cwd: dirname(settings.bundle),
    env: environmentVariables(settings),
    execArgv: [],
    stdio: ["ignore", "pipe", "pipe", "ipc"],
  });
  const pid = child.pid ?? 0;
  for (const stream of ["stdout", "stderr"] as const) {
    const input = child[stream];
    if (input) createInterface({ input }).on("line", (line) => onLog({ stream, line }));
  }

  let alive = true;
  const init = Promise.withResolvers<void>();
  let invocation: PromiseWithResolvers<Answer> | undefined;
  // Why the process ends: the first reason given is the cause of the later ones.
  const failure = Promise.withResolvers<Failure>();
  const exit = Promise.withResolvers<string>();

  child.on("message", (message) => {
    const report = message as Report;
    switch (report.type) {
      case "ready":
        init.resolve();
        break;
      case "last-words":
        failure.resolve({
          reason: "crash",
          errorType: report.errorType,
          errorMessage: report.errorMessage,
        });
        break;
      case "response":
      case "error":
        invocation?.resolve(report);
    }
  });
  child.on("error", (error) =>
    failure.resolve({ reason: "crash", errorType: error.name, errorMessage: error.message }),
  );
  // "close" comes after the last line of output and the last report.
  child.on("close", (code, signal) => {
    alive = false;
    const how = howItExited(code, signal);
    failure.resolve({
      reason: "crash",
      errorType: "Runtime.ExitError",
      errorMessage: `Runtime ${how}`,
    });
    exit.resolve(how);
  });

  /** Kills the process when `phase` has not ended after `ms`. */
  function limit<T>(phase: Promise<T>, ms: number, requestId: string, what: string) {
    const timer = setTimeout(() => {
      failure.resolve({
        reason: "timeout",
        errorType: "Sandbox.Timedout",
        errorMessage: `RequestId: ${requestId} Error: ${what} timed out after ${(ms / 1000).toFixed(2)} seconds`,
      });
      child.kill("SIGKILL");
    }, ms);
    return Promise.race([phase, exit.promise.then(() => "exited" as const)]).finally(() =>
      clearTimeout(timer),
    );
  }

  async function invoke(
    payload: string,
    requestId: string = randomUUID(),
  ): Promise<InvocationResult> {
    const ended = async (): Promise<InvocationResult> => ({
      ok: false,
      requestId,
      ...(await failure.promise),
    });
    if ((await limit(init.promise, INIT_TIMEOUT_MS, requestId, "Init")) === "exited") {
      return ended();
    }

    invocation = Promise.withResolvers<Answer>();
    const order: Order = {
      requestId,
      payload,
      deadline: Date.now() + settings.timeoutMs,
      invokedFunctionArn: settings.functionArn,
    };
    // A failed send means that the process is going, and its exit settles the invocation.
    child.send(order, () => {});
    const report = await limit(invocation.promise, settings.timeoutMs, requestId, "Task");
    if (report === "exited") return ended();
    return report.type === "response"
      ? { ok: true, requestId, payload: report.payload, memory: report.memory }
      : {
          ok: false,
          requestId,
          reason: "error",
          errorType: report.errorType,
          errorMessage: report.errorMessage,
        };
  }

  return {
    pid,
    invoke,
    kill: (signal) => void child.kill(signal),
    alive: () => alive,
    exited: exit.promise,
  };
}

function howItExited(code: number | null, signal: NodeJS.Signals | null): string {
  if (signal !== null) return `exited with error: signal: ${signal}`;
  return code === 0
    ? "exited without providing a reason"
    : `exited with error: exit status ${String(code)}`;
}
