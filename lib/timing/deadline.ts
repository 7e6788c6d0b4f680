// The end of an invocation, and how much of it each call may take.

import type { WorkerTimings } from "./payments.ts";

/** Every number is in ms. */
export type Deadline = {
  /** What is left of the invocation; negative once Lambda should have ended it. */
  remainingMs: () => number;
  /** Whether a claim, a charge and its completion still fit. */
  fitsDelivery: () => boolean;
  /** For one call to the table: never into the reserve, and never nothing. */
  tableCallMs: () => number;
  /** For one call to Stripe, after which completing must still fit; not positive without the time. */
  stripeCallMs: () => number;
};

export function createDeadline(
  timings: Pick<WorkerTimings, "callTimeoutMs" | "stripeTimeoutMs" | "deadlineReserveMs">,
  remainingMs: () => number,
): Deadline {
  const { callTimeoutMs, stripeTimeoutMs, deadlineReserveMs } = timings;
  const leftMs = () => remainingMs() - deadlineReserveMs;
  return {
    remainingMs,
    fitsDelivery: () => leftMs() >= 2 * callTimeoutMs + stripeTimeoutMs,
    tableCallMs: () => Math.max(1, Math.min(callTimeoutMs, leftMs())),
    stripeCallMs: () => Math.min(stripeTimeoutMs, leftMs() - callTimeoutMs),
  };
}
