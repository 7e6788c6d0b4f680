// The timings of the kill table: seconds for minutes, and every rule of lib/timing/timing.ts still holds.
import { DEFAULT_TIMINGS, DEFAULT_WORKER_TIMINGS } from "../../lib/timing/timing.ts";
import type { Timings } from "../../lib/timing/timing.ts";
import type { WorkerTimings } from "../../lib/timing/timing.ts";
import type { WorkerSettings } from "../../local/worker-settings.ts";
import { checkedWorker } from "../../scripts/checked-worker.ts";

const WORKER: WorkerTimings = {
  ...DEFAULT_WORKER_TIMINGS,
  callTimeoutMs: 750, // a request waits for a whole second delivery, on a busy machine too
  stripeTimeoutMs: 750,
  deadlineReserveMs: 200,
  clockSkewMs: 100, // one machine, one clock
  backoffBaseMs: 1_000, // SQS counts visibility in whole seconds
  backoffCapMs: 1_000,
};

const TIMINGS: Timings = {
  ...DEFAULT_TIMINGS,
  functionTimeoutMs: 5_000,
  visibilityTimeoutMs: 30_000, // what the message of a killed worker waits when nobody helps
  batchWindowMs: 0,
  batchSize: 1, // a process has one message, so that a point's process is known
  eventSourceConcurrency: 2, // two deliveries overlap
  reservedConcurrency: 2,
  maxReceiveCount: 8,
  outageMs: 3_000,
  stripeRequestsPerSecond: 25, // the local Stripe has no limit of its own
  chargeLatencyMs: 500,
};

/** `keyWindowMs`: how long the worker trusts Stripe to know its key; the default when absent. */
export function killsWorker(keyWindowMs = WORKER.keyWindowMs): WorkerSettings {
  return checkedWorker(TIMINGS, { ...WORKER, keyWindowMs });
}
