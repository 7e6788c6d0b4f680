// The timings of the soak: seconds for minutes, and every rule of lib/timing/timing.ts still holds.
import { DEFAULT_TIMINGS, DEFAULT_WORKER_TIMINGS } from "../../lib/timing/timing.ts";
import type { Timings } from "../../lib/timing/timing.ts";
import type { WorkerTimings } from "../../lib/timing/timing.ts";
import type { WorkerSettings } from "../../local/worker-settings.ts";
import { checkedWorker } from "../../scripts/checked-worker.ts";

const WORKER: WorkerTimings = {
  ...DEFAULT_WORKER_TIMINGS,
  stripeTimeoutMs: 600, // the local Stripe answers in ms, unless it is slow on purpose
  callTimeoutMs: 600,
  deadlineReserveMs: 200,
  clockSkewMs: 100, // one machine, one clock
  keyWindowMs: 15_000, // short, so that redriven messages are looked up
  backoffBaseMs: 1_000, // SQS counts visibility in whole seconds
  backoffCapMs: 4_000,
};

const TIMINGS: Timings = {
  ...DEFAULT_TIMINGS,
  functionTimeoutMs: 4_000,
  visibilityTimeoutMs: 24_000,
  batchWindowMs: 0,
  // What a laptop carries, whatever the deployment does.
  batchSize: 5,
  eventSourceConcurrency: 4,
  reservedConcurrency: 4,
  maxReceiveCount: 6,
  outageMs: 5_000,
  stripeRequestsPerSecond: 50, // the local Stripe has no limit of its own
  chargeLatencyMs: 500,
};

export function soakWorker(): WorkerSettings {
  return checkedWorker(TIMINGS, WORKER);
}
