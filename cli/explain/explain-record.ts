// An idempotency record in words: what was done, and what will happen next.
import type { IdempotencyRecord, Outcome } from "../../lib/payments/record.ts";
import type { WorkerTimings } from "../../lib/timing/payments.ts";
import { instant } from "../terminal/print.ts";

/** Label and text, in the order in which a person reads them. */
export type Lines = [label: string, text: string][];

export type RecordExplanation = {
  /** `in_progress`: an attempt is running. `expired`: none is. */
  state: "completed" | "in_progress" | "expired";
  lines: Lines;
  next: string;
};

const NEXT: Record<Outcome["result"], string> = {
  succeeded: "nothing",
  processing: "nothing here: it is not paid yet, which may take days; --stripe shows how it stands",
  requires_action: "nothing here: the customer has to authenticate; --stripe shows how it stands",
  declined: "nothing: it was not paid, and a new try is a new message with a new id",
  failed: "nothing here: it was not paid; the customer may still pay it in another way",
  canceled: "nothing: it was canceled at Stripe, and a new try is a new message with a new id",
};

/** Explains the record at `now` (epoch ms). `link` is where a person sees a PaymentIntent. */
export function explainRecord(
  record: IdempotencyRecord,
  timings: WorkerTimings,
  now: number,
  link: (paymentIntentId: string) => string,
): RecordExplanation {
  const { attempt, firstClaimedAt, outcome, lastError, leaseExpiresAt } = record;
  const claimed: Lines = [["first claimed", instant(firstClaimedAt, now)]];
  if (outcome) {
    const id = outcome.paymentIntentId;
    const expiry = instant(record.expiresAt * 1_000, now);
    return {
      state: "completed",
      lines: [
        ["outcome", `${describeOutcome(outcome)}, by attempt ${attempt}`],
        ...(id ? ([["PaymentIntent", link(id)]] satisfies Lines) : []),
        ...claimed,
      ],
      next: `${NEXT[outcome.result]}. A further delivery is acknowledged as a duplicate until ${expiry}`,
    };
  }
  const takeover =
    now - firstClaimedAt >= timings.keyWindowMs
      ? `attempt ${attempt + 1} takes over, and looks at Stripe before it charges, because the key window is over`
      : `attempt ${attempt + 1} takes over and charges with the same key: what Stripe has done already is not done again`;
  const error: Lines = lastError
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
        ...claimed,
        ["lease", `until ${instant(leaseExpiresAt, now)}, owner ${record.owner}`],
        ...error,
      ],
      next: `the attempt completes it, or its lease expires and ${takeover}`,
    };
  }
  const lease =
    leaseExpiresAt === 0
      ? "released by its owner"
      : `expired ${instant(leaseExpiresAt, now)}: the worker died, or could not reach the table`;
  return {
    state: "expired",
    lines: [
      ["outcome", `none: attempt ${attempt} ended without one`],
      ...claimed,
      ["lease", lease],
      ...error,
    ],
    next: `with the next delivery, ${takeover}`,
  };
}

export function describeOutcome(outcome: Outcome): string {
  if (!("code" in outcome)) return outcome.result;
  const { code, declineCode } = outcome;
  // authentication_required is both.
  const codes = [...new Set([code, declineCode])].filter((one) => one !== undefined);
  return `declined (${codes.join(", ")})`;
}
