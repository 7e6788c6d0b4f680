import { randomBytes } from "node:crypto";

import type Stripe from "stripe";

import type { CreateParameters } from "./create-parameters.ts";

/** Stripe's own type, so that a field that is missing here does not compile. */
export type PaymentIntent = Stripe.PaymentIntent;

/** A PaymentIntent before it is confirmed. `nowMs` becomes `created`. */
export function newPaymentIntent(parameters: CreateParameters, nowMs: number): PaymentIntent {
  const id = newId("pi_3");
  return {
    id,
    object: "payment_intent",
    allowed_payment_method_types: null,
    amount: parameters.amount,
    amount_capturable: 0,
    amount_received: 0,
    application: null,
    application_fee_amount: null,
    automatic_payment_methods: { allow_redirects: "always", enabled: true },
    canceled_at: null,
    cancellation_reason: null,
    capture_method: "automatic_async",
    client_secret: `${id}_secret_${randomBytes(12).toString("hex")}`,
    confirmation_method: "automatic",
    created: Math.floor(nowMs / 1000),
    currency: parameters.currency,
    customer: parameters.customer ?? null,
    customer_account: null,
    description: parameters.description ?? null,
    excluded_payment_method_types: null,
    last_payment_error: null,
    latest_charge: null,
    livemode: false,
    managed_payments: null,
    metadata: parameters.metadata,
    next_action: null,
    on_behalf_of: null,
    payment_method: paymentMethodId(parameters.paymentMethodId),
    payment_method_configuration_details: null,
    payment_method_options: null,
    payment_method_types: ["card", "us_bank_account"],
    payment_record: null,
    processing: null,
    receipt_email: null,
    review: null,
    setup_future_usage: null,
    shipping: null,
    source: null,
    statement_descriptor: null,
    statement_descriptor_suffix: parameters.statementDescriptorSuffix ?? null,
    status: "requires_confirmation",
    transfer_data: null,
    transfer_group: null,
  };
}

/** Stripe answers a test name such as pm_card_visa with the id of a new payment method. */
function paymentMethodId(sent: string | undefined): string | null {
  return sent !== undefined && /^pm_(card|usBankAccount)_/.test(sent)
    ? newId("pm_1")
    : (sent ?? null);
}

/** A random id behind one of Stripe's prefixes. */
export function newId(prefix: string): string {
  return prefix + randomBytes(12).toString("hex");
}
