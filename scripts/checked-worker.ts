// How a worker with shorter timings runs on a laptop, held to the rules of a deployment.
import { timingVariables, violations } from "../lib/timing/timing.ts";
import type { Timings, WorkerTimings } from "../lib/timing/timing.ts";
import type { WorkerSettings } from "../local/worker-settings.ts";

/**
 * The settings of the local stack for these timings; `worker` is the part that the worker reads.
 *
 * @throws Error when they break a rule: a run by other rules than the deployed ones shows nothing
 */
export function checkedWorker(timings: Timings, worker: WorkerTimings): WorkerSettings {
  const [violation] = violations({ ...timings, ...worker });
  if (violation) throw new Error(`These timings break a rule. ${violation}`);
  return {
    functionTimeoutMs: timings.functionTimeoutMs,
    visibilityTimeoutSeconds: timings.visibilityTimeoutMs / 1_000,
    batchSize: timings.batchSize,
    batchWindowSeconds: timings.batchWindowMs / 1_000,
    maxReceiveCount: timings.maxReceiveCount,
    concurrency: timings.eventSourceConcurrency,
    env: timingVariables(worker),
  };
}
