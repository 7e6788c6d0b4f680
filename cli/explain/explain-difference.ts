// A difference between record and Stripe in words: its name, both sides, and what to do.
import type { Comparison, StripeState } from "../../lib/reconcile/comparison.ts";
import { DIFFERENCES } from "../../lib/reconcile/differences.ts";
import type { Finding } from "../../lib/reconcile/finding.ts";
import { describeOutcome } from "./explain-record.ts";

export function describeComparison({ kind }: Comparison): string {
  if (kind === "agree") return "record and Stripe agree";
  if (kind === "nothing") return "no PaymentIntent for it: it was not charged";
  const { name, next } = DIFFERENCES[kind];
  return `${name.toUpperCase()}: ${next}`;
}

export function describeRecorded({ kind, recorded }: Finding): string {
  if (!recorded) return "no outcome";
  const { amount, currency, paymentIntentId } = recorded;
  const money = isAboutMoney(kind) && amount !== undefined ? `${amount} ${currency}` : "";
  return [describeOutcome(recorded), money, paymentIntentId].filter(Boolean).join(" ");
}

export function describeStates({ kind, messageId, atStripe }: Finding): string {
  if (atStripe.length === 0) return "nothing";
  return atStripe
    .map((state) => {
      const { outcome, status, amount, currency, paymentIntentId, charge } = state;
      const { inBalance } = charge ?? {};
      const taken = inBalance ? `${inBalance.amount} ${inBalance.currency}` : "nothing";
      return [
        outcome ? describeOutcome(outcome) : status,
        isAboutMoney(kind) ? `${amount} ${currency}` : "",
        paymentIntentId,
        kind === "balance_differs" ? `(${taken} in the balance)` : "",
        kind === "edited" ? describeEdit(messageId, state) : "",
      ]
        .filter(Boolean)
        .join(" ");
    })
    .join(", ");
}

/** What somebody has changed, beside what it was charged with. */
function describeEdit(
  messageId: string,
  { messageId: now, customer, charge }: StripeState,
): string {
  const charged = charge?.messageId ?? messageId;
  if (now !== charged) return `(message_id ${now ?? "removed"}, charged as ${charged})`;
  if (charge?.customer === undefined || charge.customer === customer)
    return `(charged as ${charged})`;
  return `(customer ${customer ?? "removed"}, charged as ${charge.customer})`;
}

const isAboutMoney = (kind: Finding["kind"]): boolean =>
  kind === "amount_differs" || kind === "balance_differs";
