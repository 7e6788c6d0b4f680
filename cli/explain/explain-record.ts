// An idempotency record in words: what was done, and what will happen next.
import type { IdempotencyRecord, Outcome } from "../../lib/payments/record.ts";
import type { WorkerTimings } from "../../lib/timing/payments.ts";
import { reasonOfAttempt } from "../queue/reason.ts";
import { instant } from "../terminal/print.ts";

export type Explanation = {
  /** `no record`, `completed`, `held` (an attempt is running) or `expired` (none is). */
  state: "no record" | "completed" | "in_progress" | "expired";
  /** Label and text, in the order in which a person reads them. */
  lines: [label: string, text: string][];
};

/** Explains the record at `now` (epoch ms). `link` is where a person sees a PaymentIntent. */
export function explainRecord(
  record: IdempotencyRecord,
  timings: WorkerTimings,
  now: number,
  link: (paymentIntentId: string) => string,
): Explanation {
  const { attempt, firstClaimedAt, outcome, lastError, leaseExpiresAt } = record;
  const claimed: [string, string] = ["first claimed", instant(firstClaimedAt, now)];
  const expiry = instant(record.expiresAt * 1_000, now);
  if (outcome) {
    return {
      state: "completed",
      lines: [
        ["outcome", `${describeOutcome(outcome)}, by attempt ${attempt}`],
        ...(outcome.paymentIntentId
          ? [["PaymentIntent", link(outcome.paymentIntentId)] as [string, string]]
          : []),
        claimed,
        ["next", `nothing: a further delivery is acknowledged as a duplicate until ${expiry}`],
      ],
    };
  }
  const takeover =
    now - firstClaimedAt >= timings.keyWindowMs
      ? `attempt ${attempt + 1} takes over, and looks at Stripe before it charges, because the key window is over`
      : `attempt ${attempt + 1} takes over and charges with the same key: what Stripe has done already is not done again`;
  const error: [string, string][] = lastError
    ? [
        [
          "last error",
          [lastError.kind, lastError.code, lastError.param].filter(Boolean).join(", ") +
            (lastError.requestId ? ` (Stripe request ${lastError.requestId})` : ""),
        ],
      ]
    : [];
  if (leaseExpiresAt > now) {
    return {
      state: "in_progress",
      lines: [
        ["outcome", `none yet: attempt ${attempt} is running`],
        claimed,
        ["lease", `until ${instant(leaseExpiresAt, now)}, owner ${record.owner}`],
        ...error,
        ["next", `the attempt completes it, or its lease expires and ${takeover}`],
      ],
    };
  }
  return {
    state: "expired",
    lines: [
      ["outcome", `none: attempt ${attempt} ended without one`],
      claimed,
      [
        "lease",
        leaseExpiresAt === 0
          ? "released by its owner"
          : `expired ${instant(leaseExpiresAt, now)}: the worker died, or lost the table`,
      ],
      ...error,
      [
        "next",
        `the next delivery decides: ${takeover}. If the message is in the dead-letter queue (payments dlq): ${reasonOfAttempt(record).next} If it is gone, the sender sends it again with the same id`,
      ],
    ],
  };
}

export function describeOutcome(outcome: Outcome): string {
  if (outcome.result !== "declined") return outcome.result;
  const { code, declineCode } = outcome;
  // authentication_required is both.
  const codes = [...new Set([code, declineCode])].filter((one) => one !== undefined);
  return `declined (${codes.join(", ")})`;
}
