// Timings that keep every rule, written out: what a test expects of them is worked out by hand, and
// stays true whatever a deployment sets in lib/timing/.

import type { Timings, WorkerTimings } from "../../lib/timing/payments.ts";

export const WORKER_TIMINGS: Readonly<WorkerTimings> = {
  stripeTimeoutMs: 20_000,
  callTimeoutMs: 3_000,
  deadlineReserveMs: 5_000,
  clockSkewMs: 5_000,
  keyWindowMs: 82_800_000, // 23 hours
  recordTtlMs: 3_024_000_000, // 35 days
  maxMessageAgeMs: 2_592_000_000, // 30 days
  maxSenderAheadMs: 300_000, // 5 min
  backoffBaseMs: 30_000,
  backoffCapMs: 900_000,
};

export const TIMINGS: Readonly<Timings> = {
  ...WORKER_TIMINGS,
  functionTimeoutMs: 60_000,
  visibilityTimeoutMs: 360_000,
  batchWindowMs: 0,
  batchSize: 5,
  eventSourceConcurrency: 2,
  reservedConcurrency: 2,
  maxReceiveCount: 14,
  queueRetentionMs: 345_600_000, // 4 days
  deadLetterRetentionMs: 1_209_600_000, // 14 days
  operatorSlackMs: 604_800_000, // 7 days
  outageMs: 3_600_000,
  apiRequestsPerSecond: 25,
  apiLatencyMs: 500,
  apiLatencyP99Ms: 500,
};
