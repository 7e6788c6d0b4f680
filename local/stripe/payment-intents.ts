import { randomBytes } from "node:crypto";

import type Stripe from "stripe";

import type { CreateParameters } from "./create-parameters.ts";
import { type Answer, errorAnswer } from "./errors.ts";
import type { Confirmation } from "./payment-methods.ts";

/** Stripe's own type, so that a field that is missing here does not compile. */
export type PaymentIntent = Stripe.PaymentIntent;

/** Creates the PaymentIntent and, when asked, confirms it. `nowMs` becomes `created`. */
export function createPaymentIntent(
  parameters: CreateParameters,
  nowMs: number,
): { intent: PaymentIntent; answer: Answer } {
  const { paymentMethod: method, confirm, offSession } = parameters;
  const open = newPaymentIntent(parameters, nowMs);
  if (!confirm || !method) return answered(open);
  const confirmation = method.confirm(offSession);
  switch (confirmation.result) {
    case "succeeded":
      return answered({
        ...open,
        status: "succeeded",
        amount_received: open.amount,
        latest_charge: newId("ch_3"),
      });
    case "processing":
      return answered({ ...open, status: "processing", latest_charge: newId("py_3") });
    case "requires_action":
      return answered({
        ...open,
        status: "requires_action",
        next_action: nextAction(confirmation.nextAction, nowMs),
      });
    case "declined":
      return declined(open, method.type, confirmation);
  }
}

function answered(intent: PaymentIntent): { intent: PaymentIntent; answer: Answer } {
  return { intent, answer: { status: 200, body: intent, shouldRetry: false } };
}

/** The intent goes back to `requires_payment_method` and carries the error that the 402 carries too. */
function declined(
  open: PaymentIntent,
  type: string,
  decline: Confirmation & { result: "declined" },
): { intent: PaymentIntent; answer: Answer } {
  const charge = newId("ch_3");
  const error = {
    type: "card_error" as const,
    code: decline.code,
    ...(decline.declineCode && { decline_code: decline.declineCode }),
    ...(decline.param && { param: decline.param }),
    message: decline.message,
    charge,
    payment_method: {
      id: open.payment_method,
      object: "payment_method",
      type,
      customer: open.customer,
      livemode: false,
      created: open.created,
      metadata: {},
    },
  };
  const intent: PaymentIntent = {
    ...open,
    status: "requires_payment_method",
    payment_method: null,
    latest_charge: charge,
    // The payment method is abridged: only its id and type are to be relied on.
    last_payment_error: error as unknown as PaymentIntent["last_payment_error"],
  };
  return { intent, answer: errorAnswer(402, { ...error, payment_intent: intent }, false) };
}

function nextAction(
  type: "use_stripe_sdk" | "verify_with_microdeposits",
  nowMs: number,
): PaymentIntent["next_action"] {
  if (type === "use_stripe_sdk")
    return { type, use_stripe_sdk: { type: "three_d_secure_redirect" } };
  const arrival_date = Math.floor(nowMs / 1000) + 2 * 24 * 60 * 60;
  const hosted_verification_url = "https://payments.stripe.com/microdeposit/local";
  return {
    type,
    verify_with_microdeposits: {
      arrival_date,
      hosted_verification_url,
      microdeposit_type: "descriptor_code",
    },
  };
}

function newPaymentIntent(parameters: CreateParameters, nowMs: number): PaymentIntent {
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
    automatic_payment_methods: parameters.automaticPaymentMethods
      ? { allow_redirects: parameters.allowRedirects, enabled: true }
      : null,
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
    payment_method_types: parameters.automaticPaymentMethods
      ? ["card", "us_bank_account"]
      : ["card"],
    payment_record: null,
    processing: null,
    receipt_email: parameters.receiptEmail ?? null,
    review: null,
    setup_future_usage: null,
    shipping: null,
    source: null,
    statement_descriptor: parameters.statementDescriptor ?? null,
    statement_descriptor_suffix: parameters.statementDescriptorSuffix ?? null,
    status: parameters.paymentMethod ? "requires_confirmation" : "requires_payment_method",
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

function newId(prefix: string): string {
  return prefix + randomBytes(12).toString("hex");
}
