import type { CreateParameters } from "./create-parameters.ts";
import { errorAnswer } from "./errors.ts";
import type { Answer } from "./errors.ts";
import { newId, newPaymentIntent } from "./payment-intent.ts";
import type { PaymentIntent } from "./payment-intent.ts";
import type { Confirmation } from "./payment-methods.ts";

/** Creates the PaymentIntent and confirms it. `nowMs` becomes `created`. */
export function createPaymentIntent(
  parameters: CreateParameters,
  nowMs: number,
): { intent: PaymentIntent; answer: Answer } {
  const { paymentMethod: method } = parameters;
  const open = newPaymentIntent(parameters, nowMs);
  if (!method) throw new Error("Bug! A create without a payment method was let in.");
  const { confirmation } = method;
  switch (confirmation.result) {
    case "succeeded": {
      const paid = { amount_received: open.amount, latest_charge: newId("ch_3") };
      return answered({ ...open, status: "succeeded", ...paid });
    }
    case "processing":
      return answered({ ...open, status: "processing", latest_charge: newId("py_3") });
    case "requires_action":
      return answered({ ...open, status: "requires_action", next_action: verification(nowMs) });
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
      billing_details: { address: null, email: null, name: null, phone: null, tax_id: null },
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

function verification(nowMs: number): PaymentIntent["next_action"] {
  const verify_with_microdeposits = {
    arrival_date: Math.floor(nowMs / 1000) + 2 * 24 * 60 * 60,
    hosted_verification_url: "https://payments.stripe.com/microdeposit/local",
    microdeposit_type: "descriptor_code" as const,
  };
  return { type: "verify_with_microdeposits", verify_with_microdeposits };
}
