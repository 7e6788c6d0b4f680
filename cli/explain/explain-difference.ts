// A difference between record and Stripe in words: its name, both sides, and what to do.
import type { Outcome } from "../../lib/payments/record.ts";
import type { Comparison, Difference, StripeState } from "../../lib/reconcile/comparison.ts";
import { describeOutcome } from "./explain-record.ts";

export const DIFFERENCES: Record<Difference, { name: string; next: string }> = {
  charged_twice: {
    name: "charged twice",
    next: "Refund all but one in Stripe's dashboard, and keep the recorded one. A refund does not change a PaymentIntent's status, so this is found again for as long as the period covers it.",
  },
  not_recorded: {
    name: "not recorded",
    next: "payments reconcile --repair records it at once. The next delivery does too, unless Stripe repeats a stored 500 for its key, as it may for a day.",
  },
  not_at_stripe: {
    name: "not at Stripe",
    next: "Check the key first: the right account, and live or test as the worker's? If it is right, something else than the worker wrote the record, and nothing was paid under it.",
  },
  different: {
    name: "different",
    next: "Stripe is right about the money. Correct what was built on the recorded outcome, then find out who wrote to the table or changed the payment at Stripe: the worker does neither.",
  },
  advanced_unpaid: {
    name: "advanced, unpaid",
    next: "It was not paid after all: correct what was built on it. A new try is a new message with a new id.",
  },
  advanced: {
    name: "advanced",
    next: "Nothing: Stripe has moved it forward since it was recorded.",
  },
  open: {
    name: "stuck",
    next: "It was not charged, and no worker has it: what to do depends on where its message is.",
  },
};

/** Whether an operator has to act on it. */
export function needsAction(kind: Comparison["kind"] | "open"): boolean {
  return kind !== "agree" && kind !== "nothing" && kind !== "advanced";
}

export function describeComparison({ kind }: Comparison): string {
  if (kind === "agree") return "record and Stripe agree";
  if (kind === "nothing") return "no PaymentIntent for it: it was not charged";
  const { name, next } = DIFFERENCES[kind];
  return `${name.toUpperCase()}: ${next}`;
}

export function describeRecorded(outcome: Outcome | undefined): string {
  if (!outcome) return "no outcome";
  return [describeOutcome(outcome), outcome.paymentIntentId ?? ""].join(" ").trim();
}

export function describeStates(states: readonly StripeState[]): string {
  if (states.length === 0) return "nothing";
  return states
    .map(({ outcome, status, paymentIntentId }) =>
      outcome ? `${describeOutcome(outcome)} ${paymentIntentId}` : `${status} ${paymentIntentId}`,
    )
    .join(", ");
}
