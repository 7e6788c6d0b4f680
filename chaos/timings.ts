// Minutes in AWS are seconds here, and every rule of lib/timing/ still holds: a run by other
// rules than the deployed ones shows nothing.
import type { Latency } from "../lib/timing/latency.ts";
import { DEFAULT_TIMINGS, violations } from "../lib/timing/payments.ts";
import type { Timings } from "../lib/timing/payments.ts";
import { timingVariables } from "../lib/timing/variables.ts";
import type { WorkerSettings } from "../local/payment-worker.ts";

const LAPTOP: Timings = {
  ...DEFAULT_TIMINGS,
  clockSkewMs: 100, // one machine, one clock
  backoffBaseMs: 1_000, // SQS counts visibility in whole seconds
  backoffCapMs: 1_000,
  batchWindowMs: 0,
  eventSourceConcurrency: 2,
  reservedConcurrency: 2,
  apiRequestsPerSecond: 25, // the local Stripe has no limit of its own
  apiLatencyMs: 500,
  apiLatencyP99Ms: 500,
};

export const DEMO: Timings = {
  ...LAPTOP,
  stripeTimeoutMs: 300, // the local Stripe answers in ms
  callTimeoutMs: 300,
  deadlineReserveMs: 100,
  keyWindowMs: 13_000, // past a killed worker's takeover, and short enough to see the lookup after it
  functionTimeoutMs: 2_000,
  visibilityTimeoutMs: 12_000, // what a killed worker's message waits: the demo's longest wait
  batchSize: 5,
  maxReceiveCount: 5,
  outageMs: 2_000,
};

export const CRASH_MATRIX: Timings = {
  ...LAPTOP,
  stripeTimeoutMs: 750, // a request waits for a whole second delivery, on a busy machine too
  callTimeoutMs: 750,
  deadlineReserveMs: 200,
  functionTimeoutMs: 5_000,
  visibilityTimeoutMs: 30_000, // what the message of a killed worker waits when nobody helps
  batchSize: 1, // a process has one message, so that a point's process is known
  maxReceiveCount: 8,
  outageMs: 3_000,
};

/** For a crash of another function than the worker. */
export const CRASH_AROUND: Timings = {
  ...CRASH_MATRIX,
  stripeTimeoutMs: 300,
  callTimeoutMs: 550,
  deadlineReserveMs: 150,
  functionTimeoutMs: 3_000,
  visibilityTimeoutMs: 18_000, // what the message of a killed function waits
};

export const SOAK: Timings = {
  ...LAPTOP,
  stripeTimeoutMs: 600, // the local Stripe answers in ms, unless it is slow on purpose
  callTimeoutMs: 600,
  deadlineReserveMs: 200,
  keyWindowMs: 15_000, // short, so that redriven messages are looked up
  backoffCapMs: 4_000,
  functionTimeoutMs: 4_000,
  visibilityTimeoutMs: 24_000,
  batchSize: 5,
  eventSourceConcurrency: 4,
  reservedConcurrency: 4,
  maxReceiveCount: 6,
  outageMs: 5_000,
  apiRequestsPerSecond: 50,
};

/** As deployed: a load is no question of seconds instead of minutes. */
export function loadTimings(
  plan: { batchSize: number; concurrency: number },
  latency: Latency,
): Timings {
  return {
    ...DEFAULT_TIMINGS,
    batchSize: plan.batchSize,
    eventSourceConcurrency: plan.concurrency,
    reservedConcurrency: plan.concurrency,
    apiRequestsPerSecond: 100_000, // the local Stripe has no limit
    apiLatencyMs: latency.medianMs,
    apiLatencyP99Ms: latency.p99Ms,
  };
}

/** @throws Error when the timings break a rule */
export function workerSettings(timings: Timings): WorkerSettings {
  const [violation] = violations(timings);
  if (violation) throw new Error(`These timings break a rule. ${violation}`);
  return {
    functionTimeoutMs: timings.functionTimeoutMs,
    visibilityTimeoutSeconds: timings.visibilityTimeoutMs / 1_000,
    batchSize: timings.batchSize,
    maxReceiveCount: timings.maxReceiveCount,
    concurrency: timings.eventSourceConcurrency,
    env: timingVariables(timings),
  };
}
