// What happens to a PaymentIntent after its creation: a bank debit arrives or bounces, a customer
// authenticates or walks away, a merchant cancels or refunds it.
// https://docs.stripe.com/payments/paymentintents/lifecycle

import { newId } from "./payment-intent.ts";
import type { PaymentIntent } from "./payment-intent.ts";

export type Step =
  | "succeed"
  | "fail"
  | "cancel"
  /** The customer has authenticated, and the bank takes its days. */
  | "process";

/** The statuses from which Stripe allows each step. */
const FROM: Readonly<Record<Step, readonly PaymentIntent["status"][]>> = {
  succeed: ["processing", "requires_action", "requires_payment_method"],
  fail: ["processing", "requires_action"],
  cancel: ["requires_payment_method", "requires_action", "requires_confirmation", "processing"],
  process: ["requires_action"],
};

/** The event that reports each status. https://docs.stripe.com/api/events/types */
const EVENTS: Readonly<Partial<Record<PaymentIntent["status"], string>>> = {
  succeeded: "payment_intent.succeeded",
  processing: "payment_intent.processing",
  requires_action: "payment_intent.requires_action",
  requires_payment_method: "payment_intent.payment_failed",
  canceled: "payment_intent.canceled",
};

/** The PaymentIntent after a step; undefined when its status does not allow it. `nowMs` is epoch ms. */
export function afterStep(
  intent: PaymentIntent,
  step: Step,
  nowMs: number,
): PaymentIntent | undefined {
  if (!FROM[step].includes(intent.status)) return undefined;
  const open = { ...intent, next_action: null };
  switch (step) {
    case "succeed":
      return {
        ...open,
        status: "succeeded",
        amount_received: intent.amount,
        latest_charge: intent.status === "processing" ? intent.latest_charge : newId("ch_3"),
        last_payment_error: null,
      };
    case "fail":
      return {
        ...open,
        status: "requires_payment_method",
        payment_method: null,
        last_payment_error: {
          type: "card_error",
          code: "payment_intent_payment_attempt_failed",
          decline_code: "insufficient_funds",
          message: "The payment failed.",
        },
      };
    case "cancel":
      return {
        ...open,
        status: "canceled",
        canceled_at: Math.floor(nowMs / 1_000),
        cancellation_reason: "abandoned",
      };
    case "process":
      return { ...open, status: "processing", latest_charge: newId("py_3") };
  }
}

/** The dispute of all of a PaymentIntent. https://docs.stripe.com/api/disputes/object */
export function disputeOf({ id, latest_charge, amount, currency }: PaymentIntent, nowMs: number) {
  return {
    id: newId("du_1"),
    object: "dispute",
    amount,
    charge: latest_charge,
    created: Math.floor(nowMs / 1_000),
    currency,
    payment_intent: id,
    reason: "fraudulent",
    status: "needs_response",
  };
}

/** The event that reports what became of a PaymentIntent; a new one that nobody confirmed has none. */
export function eventOf({ status, last_payment_error }: PaymentIntent): string | undefined {
  const isOpen = status === "requires_payment_method" && !last_payment_error;
  return isOpen ? undefined : EVENTS[status];
}
