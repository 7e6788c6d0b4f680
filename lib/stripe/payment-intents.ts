// PaymentIntents as a comparison and a repair need them.

import type { Stripe } from "stripe";

import type { ChargeParams } from "../payments/charge.ts";
import type { IntentEntry } from "../reconcile/compare.ts";
import type { StripeState } from "../reconcile/comparison.ts";
import type { Money, Transaction } from "../reconcile/money.ts";
import { answerOf } from "./answers.ts";

export function stripeStateOf(intent: Stripe.PaymentIntent): StripeState {
  const answer = answerOf(intent);
  const { amount, currency, latest_charge: charge } = intent;
  return {
    paymentIntentId: intent.id,
    ...(answer.kind === "outcome" && { outcome: answer.outcome }),
    status: intent.status,
    created: intent.created * 1_000,
    amount,
    currency,
    ...madeFor(intent),
    ...(charge !== null && typeof charge === "object" && { charge: chargeOf(charge) }),
  };
}

/** What a list of PaymentIntents says of one; undefined when another integration made it. */
export function intentEntryOf(intent: Stripe.PaymentIntent): IntentEntry | undefined {
  const { messageId, ...state } = stripeStateOf(intent);
  return messageId === undefined ? undefined : { what: "intent", messageId, ...state };
}

/** A movement in the balance, whose source is expanded. */
export function transactionOf(transaction: Stripe.BalanceTransaction): Transaction {
  const { id, reporting_category: category, created, amount, currency, fee, net } = transaction;
  const source = transaction.source as Stripe.Charge | string | null;
  const charge = category === "charge" && typeof source === "object" ? source : null;
  const { messageId, customer } = charge ? madeFor(charge) : {};
  const common = { transactionId: id, category, created: created * 1_000, amount, currency };
  if (!charge || messageId === undefined || charge.payment_intent === null) {
    return { ...common, fee, net };
  }
  return {
    ...common,
    fee,
    net,
    charge: {
      messageId,
      paymentIntentId: idOf(charge.payment_intent),
      ...(customer !== undefined && { customer }),
      ...paidIn(charge, transaction),
    },
  };
}

/** Stripe copies the metadata of a PaymentIntent to its charge when it makes the charge, and never again. */
function madeFor({ metadata, customer }: Pick<Stripe.Charge, "metadata" | "customer">): {
  messageId?: string;
  customer?: string;
} {
  const messageId = metadata["message_id"];
  return {
    ...(messageId && { messageId }),
    ...(customer !== null && { customer: idOf(customer) }),
  };
}

function chargeOf(charge: Stripe.Charge): NonNullable<StripeState["charge"]> {
  const transaction = charge.balance_transaction;
  return {
    ...madeFor(charge),
    ...(transaction !== null &&
      typeof transaction === "object" && { inBalance: paidIn(charge, transaction) }),
  };
}

/** What the balance took, in the customer's currency: it may be settled in another. */
function paidIn(charge: Stripe.Charge, transaction: Stripe.BalanceTransaction): Money {
  const { amount, currency } = transaction.currency === charge.currency ? transaction : charge;
  return { amount, currency };
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
