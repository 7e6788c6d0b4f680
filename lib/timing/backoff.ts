// How long a delivery waits after a transient failure. Shared by the consumer that waits and the
// rules that count on it.

import { HOUR, inSeconds, MINUTE, rule, SECOND } from "./rules.ts";

export type Backoff = {
  /** The longest wait after a first transient failure, in ms; it doubles with each receive. */
  backoffBaseMs: number;
  /** No wait after a transient failure is longer. */
  backoffCapMs: number;
};

/**
 * The longest wait that may be asked of SQS, in ms. Its limit of 12 hours counts from the receive,
 * of which a batch window (at most 5 minutes) and an invocation (at most 15) may be gone.
 * https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-visibility-timeout.html
 */
export const LONGEST_WAIT_MS = 12 * HOUR - 20 * MINUTE;

/** The longest wait before receive `receiveCount + 1`, in ms; `receiveCount` starts at 1. */
export function backoffCeilingMs(backoff: Backoff, receiveCount: number): number {
  // 2 ** 1024 is Infinity, which the minimum still caps.
  return Math.min(backoff.backoffCapMs, backoff.backoffBaseMs * 2 ** Math.max(0, receiveCount - 1));
}

/** How long the backoff alone keeps a message out of the dead-letter queue, in ms, at the least. */
export function shortestOutageCoveredMs(timings: Backoff & { maxReceiveCount: number }): number {
  let total = 0;
  for (let receive = 1; receive < timings.maxReceiveCount; receive++) {
    total += backoffCeilingMs(timings, receive) / 2; // a wait is never below half its ceiling
  }
  return total;
}

export const backoffOrder = rule<Backoff>(
  "backoff-order",
  (t) =>
    t.backoffBaseMs >= SECOND &&
    t.backoffBaseMs <= t.backoffCapMs &&
    t.backoffCapMs <= LONGEST_WAIT_MS,
  (t) =>
    `the backoff must start at 1 s or more (${inSeconds(t.backoffBaseMs)}), not above its cap (${inSeconds(t.backoffCapMs)}), and the cap must be at most ${inSeconds(LONGEST_WAIT_MS)}, because SQS counts its 12 h from the receive; change backoffBaseMs or backoffCapMs.`,
);
