// A handle on one execution environment: a child process that runs a bundle.

import { fork } from "node:child_process";

import type { SQSEvent } from "aws-lambda";

export type Batch = { wallMs: number; cpuMs: number; peakMb: number };

type Report =
  | { kind: "ready"; readyMs: number; readyCpuMs: number }
  | ({ kind: "done"; failures: unknown[] } & Batch)
  | { kind: "failed"; message: string };

export type Worker = {
  pid: number;
  /** From the start of the process until the bundle's handler could be called, in ms. */
  readyMs: number;
  readyCpuMs: number;
  /** Runs one invocation. @throws Error when a message fails, the handler throws or the process ends */
  invoke(event: SQSEvent): Promise<Batch>;
  kill(): Promise<void>;
};

const REMAINING_MS = 60_000;

/** Starts a worker and waits until it is ready. */
export async function startWorker(bundle: string, env: Record<string, string>): Promise<Worker> {
  const child = fork(new URL("./host.cjs", import.meta.url), [bundle], {
    env,
    execArgv: [],
    // The log goes nowhere: how fast a pipe is read is not the worker's doing.
    stdio: ["ignore", "ignore", "inherit", "ipc"],
  });
  // It ends with this process, and does not keep it alive.
  child.unref();
  child.channel?.unref();
  const exited = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  const report = (): Promise<Report> =>
    Promise.race([
      new Promise<Report>((resolve) => child.once("message", (m) => resolve(m as Report))),
      exited.then((): Report => ({ kind: "failed", message: `${bundle} ended by itself.` })),
    ]);

  const ready = await report();
  if (ready.kind !== "ready") throw new Error(`The worker did not start: ${JSON.stringify(ready)}`);
  return {
    pid: child.pid ?? 0,
    readyMs: ready.readyMs,
    readyCpuMs: ready.readyCpuMs,
    async invoke(event) {
      child.send({ event, remainingMs: REMAINING_MS });
      const done = await report();
      if (done.kind !== "done" || done.failures.length > 0) {
        throw new Error(`The batch failed: ${JSON.stringify(done)}`);
      }
      return done;
    },
    async kill() {
      child.kill("SIGKILL");
      await exited;
    },
  };
}
