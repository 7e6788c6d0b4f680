// The worker's timings as environment variables, so that it runs on the very timings that were
// checked.

import type { WorkerTimings } from "./payments.ts";

/** In seconds (decimals allowed). */
export const TIMING_VARIABLES: Readonly<Record<keyof WorkerTimings, string>> = {
  stripeTimeoutMs: "STRIPE_TIMEOUT_SECONDS",
  callTimeoutMs: "CALL_TIMEOUT_SECONDS",
  deadlineReserveMs: "DEADLINE_RESERVE_SECONDS",
  clockSkewMs: "CLOCK_SKEW_SECONDS",
  keyWindowMs: "KEY_WINDOW_SECONDS",
  recordTtlMs: "RECORD_TTL_SECONDS",
  maxMessageAgeMs: "MAX_MESSAGE_AGE_SECONDS",
  maxSenderAheadMs: "MAX_SENDER_AHEAD_SECONDS",
  backoffBaseMs: "BACKOFF_BASE_SECONDS",
  backoffCapMs: "BACKOFF_CAP_SECONDS",
};

/** The variables to deploy. */
export function timingVariables(timings: WorkerTimings): Record<string, string> {
  return Object.fromEntries(
    Object.entries(TIMING_VARIABLES).map(([key, variable]) => [
      variable,
      String(timings[key as keyof WorkerTimings] / 1_000),
    ]),
  );
}
