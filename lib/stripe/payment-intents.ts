// PaymentIntents as a comparison and a repair need them.

import type { Stripe } from "stripe";

import type { ChargeParams } from "../payments/charge.ts";
import type { StripeState } from "../reconcile/comparison.ts";
import { answerOf } from "./answers.ts";

export function stripeStateOf(intent: Stripe.PaymentIntent): StripeState {
  const answer = answerOf(intent);
  return {
    paymentIntentId: intent.id,
    ...(answer.kind === "outcome" && { outcome: answer.outcome }),
    status: intent.status,
    created: intent.created * 1_000,
  };
}

/**
 * What was sent to Stripe, as far as the PaymentIntent shows. Where it does not (Stripe replaces the
 * names of its test payment methods), a redelivery is a conflict: never charged, and seen.
 */
export function chargedParamsOf(intent: Stripe.PaymentIntent): ChargeParams {
  const { amount, currency, description, statement_descriptor_suffix: suffix, metadata } = intent;
  const method = intent.payment_method ?? intent.last_payment_error?.payment_method;
  return {
    amount,
    currency,
    customer: idOf(intent.customer),
    payment_method: idOf(method),
    confirm: true,
    off_session: true,
    ...(description !== null && { description }),
    ...(suffix !== null && { statement_descriptor_suffix: suffix }),
    metadata,
  };
}

function idOf(object: string | { id: string } | null | undefined): string {
  return typeof object === "string" ? object : (object?.id ?? "unknown");
}
