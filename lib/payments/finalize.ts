// What became of a payment after its outcome was recorded. Stripe is asked, and the recorded outcome
// moves forward, never back:
//
//   requires_action ──► processing ──► declined, failed ──► succeeded | canceled
//
//   Straight ahead too, but never between succeeded and canceled. A failed payment is not final: the
//   customer may pay the same PaymentIntent in another way.

import type { IdempotencyRecord, Outcome } from "./record.ts";

type Result = Outcome["result"];

// What the customer knows more of later has the higher rank.
const RANK: Readonly<Record<Result, number>> = {
  requires_action: 0,
  processing: 1,
  declined: 2,
  failed: 2,
  succeeded: 3,
  canceled: 3,
};

/** The results that may stand in a record before this one takes their place. */
export function predecessorsOf(result: Result): readonly Result[] {
  return (Object.keys(RANK) as Result[]).filter((earlier) => RANK[earlier] < RANK[result]);
}

/** What Stripe says of a PaymentIntent now. */
export type PaymentState = {
  paymentIntentId: string;
  /** The metadata that the worker sets. */
  messageId: string;
  outcome: Outcome;
  amount: number;
  currency: string;
};

/** The records, as far as finalizing goes. */
export interface RecordedOutcomes {
  /**
   * Moves the recorded outcome forward, unless the record is not completed, is of another
   * PaymentIntent, or has a result that may not precede the new one. `standing` is what is there
   * instead; undefined when there is no record.
   *
   * @param now epoch ms
   * @throws TableError
   */
  advance(
    messageId: string,
    state: PaymentState,
    now: number,
    timeoutMs: number,
  ): Promise<{ advanced: true } | { advanced: false; standing?: IdempotencyRecord }>;
}

/** How finalizing a payment ended. */
export type Finalized =
  | { decision: "advanced"; outcome: Outcome }
  /** The record says so already, or knows more. */
  | { decision: "duplicate"; outcome: Outcome }
  /** The worker has not recorded an outcome yet: too early. */
  | { decision: "in_progress" }
  /** Ours, but there is no record: it expired, or was lost, or is another deployment's. */
  | { decision: "unmatched" }
  /** Two PaymentIntents for one message id. */
  | { decision: "double_charge"; recorded: string; found: string }
  /** The record has a final result, and Stripe another one. */
  | { decision: "contradiction"; recorded: Outcome; found: Outcome };

/** Moves the record of a payment to where Stripe says that the payment is. */
export async function finalize(
  state: PaymentState,
  records: RecordedOutcomes,
  now: number,
  timeoutMs: number,
): Promise<Finalized> {
  const { messageId, outcome } = state;
  const result = await records.advance(messageId, state, now, timeoutMs);
  return result.advanced
    ? { decision: "advanced", outcome }
    : classifyStanding(result.standing, state);
}

/** Why a record did not move. */
function classifyStanding(
  standing: IdempotencyRecord | undefined,
  { paymentIntentId, outcome: found }: PaymentState,
): Finalized {
  if (!standing) return { decision: "unmatched" };
  const recorded = standing.outcome;
  if (!recorded) return { decision: "in_progress" };
  // A decline may have been recorded without its PaymentIntent's id.
  if (recorded.paymentIntentId !== undefined && recorded.paymentIntentId !== paymentIntentId) {
    return {
      decision: "double_charge",
      recorded: recorded.paymentIntentId,
      found: paymentIntentId,
    };
  }
  const bothFinal = RANK[recorded.result] === 3 && RANK[found.result] === 3;
  if (bothFinal && recorded.result !== found.result) {
    return { decision: "contradiction", recorded, found };
  }
  return { decision: "duplicate", outcome: recorded };
}
