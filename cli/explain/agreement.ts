// Whether a record and Stripe tell the same story of a message.
import type { Stripe } from "stripe";

import type { IdempotencyRecord, Outcome } from "../../lib/payments/record.ts";
import { answerOf } from "../../lib/stripe/answers.ts";

/** A PaymentIntent that carries the message id, in the record's words. */
export type Truth = {
  paymentIntentId: string;
  /** What would be recorded; absent for a status that is no outcome, such as `canceled`. */
  outcome?: Outcome;
  status: string;
};

export function truthOf(intent: Stripe.PaymentIntent): Truth {
  const answer = answerOf(intent);
  return {
    paymentIntentId: intent.id,
    ...(answer.kind === "outcome" && { outcome: answer.outcome }),
    status: intent.status,
  };
}

export type Agreement =
  | { kind: "agree" }
  /** Neither has an outcome. */
  | { kind: "nothing" }
  /** Recorded as processing or requires_action, and Stripe has moved on since, as it should. */
  | { kind: "moved_on"; truth: Truth }
  /** Stripe has an outcome that is not recorded: the next delivery records it, or `reconcile --repair`. */
  | { kind: "not_recorded"; truth: Truth }
  | { kind: "not_at_stripe" }
  | { kind: "different"; truth: Truth }
  /** More than one PaymentIntent took the money. */
  | { kind: "charged_twice"; truths: Truth[] };

/** `truths` are all that Stripe has under the record's message id. */
export function agreementOf(
  record: Pick<IdempotencyRecord, "outcome"> | undefined,
  truths: readonly Truth[],
): Agreement {
  const paid = truths.filter(tookMoney);
  if (paid.length > 1) return { kind: "charged_twice", truths: paid };
  const recorded = record?.outcome;
  if (!recorded) {
    const truth = paid[0] ?? truths.find(({ outcome }) => outcome !== undefined);
    return truth ? { kind: "not_recorded", truth } : { kind: "nothing" };
  }
  const other = paid.find(({ paymentIntentId }) => paymentIntentId !== recorded.paymentIntentId);
  if (other) return { kind: "different", truth: other };
  if (recorded.paymentIntentId === undefined) return { kind: "agree" }; // a decline without one
  const same = truths.find(({ paymentIntentId }) => paymentIntentId === recorded.paymentIntentId);
  if (!same) return { kind: "not_at_stripe" };
  if (same.outcome?.result === recorded.result) return { kind: "agree" };
  const open = recorded.result === "processing" || recorded.result === "requires_action";
  return { kind: open ? "moved_on" : "different", truth: same };
}

export function tookMoney({ outcome }: Truth): boolean {
  return outcome?.result === "succeeded" || outcome?.result === "processing";
}

/** The agreement as a sentence for a person. */
export function describeAgreement(agreement: Agreement): string {
  switch (agreement.kind) {
    case "agree":
      return "record and Stripe agree";
    case "nothing":
      return "Stripe has no PaymentIntent for it: it was not charged";
    case "moved_on":
      return `Stripe has moved on since it was recorded: ${nameOf(agreement.truth)}`;
    case "not_recorded":
      return `Stripe has an outcome that is not recorded: ${nameOf(agreement.truth)}. The next delivery records it; without one, reconcile --repair does`;
    case "not_at_stripe":
      return "Stripe does not know the recorded PaymentIntent: is this the right key, of the right account and mode?";
    case "different":
      return `Stripe differs from the record: ${nameOf(agreement.truth)}`;
    case "charged_twice":
      return `CHARGED TWICE: ${agreement.truths.map(nameOf).join(" and ")}. Refund one of them`;
  }
}

function nameOf({ paymentIntentId, outcome, status }: Truth): string {
  return `${paymentIntentId} is ${outcome?.result ?? status}`;
}
