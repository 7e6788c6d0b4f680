// What becomes of a PaymentIntent later, and the events in which Stripe says so.
// https://docs.stripe.com/api/events/object, https://docs.stripe.com/payments/paymentintents/lifecycle

import { confirmed, MOVING } from "./stripe-objects.ts";
import type { Intent, Status } from "./stripe-objects.ts";

/** An event, with the PaymentIntent as it was then: in which of its statuses, by their number. */
export type StripeEvent = { eventId: string; intent: Intent; number: number };

const TYPES: Readonly<Partial<Record<Status, string>>> = {
  succeeded: "payment_intent.succeeded",
  processing: "payment_intent.processing",
  requires_action: "payment_intent.requires_action",
  requires_payment_method: "payment_intent.payment_failed",
  canceled: "payment_intent.canceled",
};

/** The body of the message, as the webhook enqueues it. */
export function eventBody({ eventId, intent }: StripeEvent): string {
  const type = TYPES[intent.status];
  return JSON.stringify({
    id: eventId,
    object: "event",
    livemode: false,
    type,
    data: { object: intent },
  });
}

/** The statuses that are still to come. */
export const movesOf = ({ payment_method }: Intent): Status[] => [
  ...(MOVING[payment_method.split("_")[1] ?? ""]?.moves ?? []),
];

/** A PaymentIntent that no worker made, of a customer that none asks for. */
export function byHand(id: string, messageId: string | undefined, now: number): Intent {
  const form = "amount=500&currency=eur&customer=cus_hand&payment_method=pm_hand_1";
  const metadata = messageId === undefined ? {} : { message_id: messageId };
  return { ...confirmed(form, id, now), metadata };
}
