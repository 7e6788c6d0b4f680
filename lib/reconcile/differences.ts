// Every difference: its name, and what to do.

import type { Comparison, Difference } from "./comparison.ts";

export const DIFFERENCES: Readonly<Record<Difference, { name: string; next: string }>> = {
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
  amount_differs: {
    name: "amount differs",
    next: "Stripe is right about the money: the customer paid what it shows. Correct what was built on the recorded amount, then find out who wrote to the table: the worker records what it charges.",
  },
  edited: {
    name: "edited at Stripe",
    next: "Somebody changed the PaymentIntent's message_id or customer. Set it back to what its charge has, in Stripe's dashboard: until then the lookup cannot find the charge, and a message older than a day whose record is lost would be charged again.",
  },
  balance_differs: {
    name: "balance differs",
    next: "Look for the charge under Balance in Stripe's dashboard. If it is not there, or has another amount, ask Stripe's support: the customer paid, and the money is not where it belongs.",
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

export const SUMS_DIFFER =
  "The payments under findings make up the difference. If there are none, a payment was counted on one side alone: compare the days before and after, and ask Stripe's support with the report.";

/** Whether an operator has to act on it. */
export function needsAction(kind: Comparison["kind"] | Difference): boolean {
  return kind !== "agree" && kind !== "nothing" && kind !== "advanced";
}
