// The demo's timings: minutes in AWS are seconds here, and every rule of lib/timing.ts still holds.
import {
  DEFAULT_TIMINGS,
  DEFAULT_WORKER_TIMINGS,
  timingVariables,
  violations,
  type Timings,
  type WorkerTimings,
} from "../../lib/timing.ts";
import type { WorkerSettings } from "../../local/worker-settings.ts";

const WORKER: WorkerTimings = {
  ...DEFAULT_WORKER_TIMINGS,
  stripeTimeoutMs: 300, // the local Stripe answers in ms
  callTimeoutMs: 300,
  deadlineReserveMs: 100,
  clockSkewMs: 100, // one machine, one clock
  keyWindowMs: 13_000, // past a killed worker's take-over, and short enough to see the look-up after it
  backoffBaseMs: 1_000, // SQS counts visibility in whole seconds
  backoffCapMs: 1_000,
};

export const DEMO_TIMINGS: Timings = {
  ...DEFAULT_TIMINGS,
  ...WORKER,
  functionTimeoutMs: 2_000,
  visibilityTimeoutMs: 12_000, // what a killed worker's message waits: the demo's longest wait
  maxReceiveCount: 5,
  outageMs: 2_000,
};

/**
 * @throws Error when the timings above break a rule: a demo of other rules than the deployed ones
 * would show nothing
 */
export function demoWorker(): WorkerSettings {
  const [violation] = violations(DEMO_TIMINGS);
  if (violation) throw new Error(`The demo's timings break a rule. ${violation}`);
  return {
    functionTimeoutMs: DEMO_TIMINGS.functionTimeoutMs,
    visibilityTimeoutSeconds: DEMO_TIMINGS.visibilityTimeoutMs / 1_000,
    batchSize: DEMO_TIMINGS.batchSize,
    batchWindowSeconds: DEMO_TIMINGS.batchWindowMs / 1_000,
    maxReceiveCount: DEMO_TIMINGS.maxReceiveCount,
    concurrency: DEMO_TIMINGS.eventSourceConcurrency,
    env: timingVariables(WORKER),
  };
}
