// The end of an invocation, and how much of it one call may take.

import type { WorkerTimings } from "./timing.ts";

/** What is left of the invocation, in ms; negative once Lambda should have ended it. */
export type Deadline = { remainingMs: () => number };

/** The time for one call to the table, in ms: never into the reserve, and never nothing. */
export function timeLeftMs(
  timings: Pick<WorkerTimings, "callTimeoutMs" | "deadlineReserveMs">,
  deadline: Deadline,
): number {
  const remaining = deadline.remainingMs() - timings.deadlineReserveMs;
  return Math.max(1, Math.min(timings.callTimeoutMs, remaining));
}
