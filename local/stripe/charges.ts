// The charges behind PaymentIntents: each keeps the metadata and the customer that it was made with,
// whatever becomes of the PaymentIntent's own.
// https://docs.stripe.com/api/charges/object,
// https://support.stripe.com/questions/how-metadata-works-with-related-objects

import type Stripe from "stripe";

import type { PaymentIntent } from "./payment-intent.ts";

/** What is kept of a charge; the object is made when it is asked for. */
type Kept = Pick<PaymentIntent, "customer" | "metadata"> & {
  id: string;
  created: number;
  refunded: number;
};

export function createCharges(balanceTransactionOf: (charge: string) => string | null) {
  const kept = new Map<string, Kept>();

  return {
    /** Remembers the charge of a PaymentIntent that has one, unless it is known. */
    add({ latest_charge, customer, metadata }: PaymentIntent, nowMs: number): void {
      if (typeof latest_charge !== "string" || kept.has(latest_charge)) return;
      const created = Math.floor(nowMs / 1_000);
      kept.set(latest_charge, { id: latest_charge, customer, metadata, created, refunded: 0 });
    },
    /** Refunds a part of the PaymentIntent's charge, or what is left of it; how much that was. */
    refund({ latest_charge, amount }: PaymentIntent, part = amount): number {
      const charge = typeof latest_charge === "string" ? kept.get(latest_charge) : undefined;
      if (!charge) throw new Error("There is no charge to refund.");
      const refunded = Math.min(part, amount - charge.refunded);
      charge.refunded += refunded;
      return refunded;
    },
    of(intent: PaymentIntent, id = intent.latest_charge): Stripe.Charge | null {
      const charge = typeof id === "string" ? kept.get(id) : undefined;
      return charge ? chargeObject(intent, charge, balanceTransactionOf(charge.id)) : null;
    },
  };
}

export type Charges = ReturnType<typeof createCharges>;

function chargeObject(
  intent: PaymentIntent,
  { id, customer, metadata, created, refunded }: Kept,
  balance_transaction: string | null,
): Stripe.Charge {
  const latest = intent.latest_charge === id;
  const failed = !latest || intent.last_payment_error !== null;
  const paid = !failed && intent.status === "succeeded";
  return {
    id,
    object: "charge",
    amount: intent.amount,
    amount_captured: paid ? intent.amount : 0,
    amount_refunded: refunded,
    application: null,
    application_fee: null,
    application_fee_amount: null,
    balance_transaction,
    billing_details: { address: null, email: null, name: null, phone: null, tax_id: null },
    calculated_statement_descriptor: null,
    captured: paid,
    created,
    currency: intent.currency,
    customer,
    description: intent.description,
    disputed: false,
    failure_balance_transaction: null,
    failure_code: failed ? (intent.last_payment_error?.code ?? "card_declined") : null,
    failure_message: failed ? (intent.last_payment_error?.message ?? "It failed.") : null,
    fraud_details: {},
    livemode: false,
    metadata,
    on_behalf_of: null,
    outcome: null,
    paid,
    payment_intent: intent.id,
    payment_method: typeof intent.payment_method === "string" ? intent.payment_method : null,
    payment_method_details: null,
    receipt_email: null,
    receipt_number: null,
    receipt_url: null,
    refunded: refunded === intent.amount,
    review: null,
    shipping: null,
    source: null,
    source_transfer: null,
    statement_descriptor: null,
    statement_descriptor_suffix: null,
    status: paid ? "succeeded" : failed ? "failed" : "pending",
    transfer_data: null,
    transfer_group: null,
  };
}
