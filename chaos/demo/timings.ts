// The demo's timings: minutes in AWS are seconds here, and every rule of lib/timing/timing.ts still holds.
import { DEFAULT_TIMINGS, DEFAULT_WORKER_TIMINGS } from "../../lib/timing/timing.ts";
import type { Timings, WorkerTimings } from "../../lib/timing/timing.ts";
import { checkedWorker } from "../../scripts/checked-worker.ts";

const WORKER: WorkerTimings = {
  ...DEFAULT_WORKER_TIMINGS,
  stripeTimeoutMs: 300, // the local Stripe answers in ms
  callTimeoutMs: 300,
  deadlineReserveMs: 100,
  clockSkewMs: 100, // one machine, one clock
  keyWindowMs: 13_000, // past a killed worker's takeover, and short enough to see the lookup after it
  backoffBaseMs: 1_000, // SQS counts visibility in whole seconds
  backoffCapMs: 1_000,
};

export const DEMO_TIMINGS: Timings = {
  ...DEFAULT_TIMINGS,
  ...WORKER,
  functionTimeoutMs: 2_000,
  visibilityTimeoutMs: 12_000, // what a killed worker's message waits: the demo's longest wait
  batchWindowMs: 0,
  // What a laptop carries, whatever the deployment does.
  batchSize: 5,
  eventSourceConcurrency: 2,
  reservedConcurrency: 2,
  maxReceiveCount: 5,
  outageMs: 2_000,
  stripeRequestsPerSecond: 25, // the local Stripe has no limit of its own
  chargeLatencyMs: 500,
};

export const DEMO_WORKER = checkedWorker(DEMO_TIMINGS, WORKER);
