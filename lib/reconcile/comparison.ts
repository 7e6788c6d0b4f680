// One message's record beside what Stripe has under its id: do they say the same, and if not, which
// difference is it.

import { predecessorsOf } from "../payments/finalize.ts";
import type { IdempotencyRecord, Outcome } from "../payments/record.ts";
import type { Money } from "./money.ts";

/** A PaymentIntent that carries the message id, or did, in the record's words. */
export type StripeState = Money & {
  paymentIntentId: string;
  /** What would be recorded; absent for a status that is no outcome, such as `requires_capture`. */
  outcome?: Outcome;
  status: string;
  /** Epoch ms. */
  created: number;
  /** What its metadata say now. */
  messageId?: string;
  customer?: string;
  /** Its charge, when it was read with it: it keeps what it was made with. */
  charge?: {
    messageId?: string;
    customer?: string;
    /** What Stripe's balance shows of it. */
    inBalance?: Money;
  };
};

export type Comparison =
  | { kind: "agree" }
  /** Neither has an outcome. */
  | { kind: "nothing" }
  /** Stripe has moved it forward since it was recorded, as it may. */
  | { kind: "advanced"; state: StripeState }
  /** The same, and it was not paid. */
  | { kind: "advanced_unpaid"; state: StripeState }
  /** Stripe has an outcome that the record lacks. */
  | { kind: "not_recorded"; state: StripeState }
  | { kind: "not_at_stripe" }
  | { kind: "different"; state: StripeState }
  /** The same outcome, of another amount or currency. */
  | { kind: "amount_differs"; state: StripeState }
  /** More than one PaymentIntent took the money. */
  | { kind: "charged_twice"; states: StripeState[] };

/**
 * A difference. `open`: the claim has no live lease, and Stripe has nothing for it. `edited`: the
 * PaymentIntent's message id or customer is not what it was charged with. `balance_differs`: Stripe's
 * balance does not show what was paid.
 */
export type Difference =
  | Exclude<Comparison["kind"], "agree" | "nothing">
  | "open"
  | "edited"
  | "balance_differs";

/** `states` are all that Stripe has under the record's message id. */
export function compareWithStripe(
  record: Pick<IdempotencyRecord, "outcome" | "amount" | "currency"> | undefined,
  states: readonly StripeState[],
): Comparison {
  const paid = states.filter(tookMoney);
  if (paid.length > 1) return { kind: "charged_twice", states: paid };
  const recorded = record?.outcome;
  if (!recorded) {
    const state = paid[0] ?? states.find(({ outcome }) => outcome !== undefined);
    return state ? { kind: "not_recorded", state } : { kind: "nothing" };
  }
  const other = paid.find(({ paymentIntentId }) => paymentIntentId !== recorded.paymentIntentId);
  if (other) return { kind: "different", state: other };
  if (recorded.paymentIntentId === undefined) return { kind: "agree" }; // a decline without one
  const state = states.find(({ paymentIntentId }) => paymentIntentId === recorded.paymentIntentId);
  if (!state) return { kind: "not_at_stripe" };
  const { outcome } = state;
  if (outcome && sameResult(outcome, recorded)) {
    return sameMoney(record, state) ? { kind: "agree" } : { kind: "amount_differs", state };
  }
  if (!outcome || !predecessorsOf(outcome.result).includes(recorded.result)) {
    return { kind: "different", state };
  }
  return { kind: isUnpaid(outcome) ? "advanced_unpaid" : "advanced", state };
}

/** Stripe shows a payment that was declined at its creation and one that failed later as the same. */
function sameResult(atStripe: Outcome, recorded: Outcome): boolean {
  return (
    atStripe.result === recorded.result ||
    (atStripe.result === "declined" && recorded.result === "failed")
  );
}

/** Records of earlier versions have no amount. */
function sameMoney(
  { amount, currency }: { amount?: number; currency?: string },
  state: Money,
): boolean {
  return amount === undefined || (amount === state.amount && currency === state.currency);
}

function tookMoney({ outcome }: StripeState): boolean {
  return outcome?.result === "succeeded" || outcome?.result === "processing";
}

function isUnpaid({ result }: Outcome): boolean {
  return result === "declined" || result === "failed" || result === "canceled";
}
