// The timings that the simulation plays with, written out: the defaults as they are shipped. The
// scenarios and the rules hold moments on both sides of them, which another deployment's would move.

import type { Timings } from "../../lib/timing/payments.ts";
import { DAY, HOUR, MINUTE, SECOND } from "./scenario.ts";

export const TIMINGS: Readonly<Timings> = {
  stripeTimeoutMs: 20 * SECOND,
  callTimeoutMs: 3 * SECOND,
  deadlineReserveMs: 5 * SECOND,
  clockSkewMs: 5 * SECOND,
  keyWindowMs: 23 * HOUR,
  recordTtlMs: 35 * DAY,
  maxMessageAgeMs: 30 * DAY,
  maxSenderAheadMs: 5 * MINUTE,
  backoffBaseMs: 30 * SECOND,
  backoffCapMs: 15 * MINUTE,
  functionTimeoutMs: MINUTE,
  visibilityTimeoutMs: 6 * MINUTE,
  batchWindowMs: 0,
  batchSize: 5,
  eventSourceConcurrency: 2,
  reservedConcurrency: 2,
  maxReceiveCount: 14,
  queueRetentionMs: 4 * DAY,
  deadLetterRetentionMs: 14 * DAY,
  operatorSlackMs: 7 * DAY,
  outageMs: HOUR,
  apiRequestsPerSecond: 25,
  apiLatencyMs: 500,
  apiLatencyP99Ms: 500,
};
