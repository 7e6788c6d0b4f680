// What is taken from an event of Stripe's: ids, and nothing that Stripe itself would not be asked
// again. An event may be late, out of order, doubled or of another API version.
// https://docs.stripe.com/api/events/object

import { fieldsOf, parseFields } from "../message/fields.ts";
import type { Fields } from "../message/fields.ts";

export type StripeEvent = { eventId: string; type: string; livemode: boolean } & Subject;

/** What an event is about. The PaymentIntent is to be retrieved. */
type Subject =
  | { about: "payment"; paymentIntentId: string }
  /** Information: it changes no outcome. */
  | { about: "refund"; paymentIntentId: string; chargeId: string }
  | { about: "dispute"; paymentIntentId: string; disputeId: string; phase: "created" | "closed" }
  /** Of no concern here: another type, another account's, or not of a PaymentIntent. */
  | { about: "other" };

const PAYMENT_TYPES: ReadonlySet<string> = new Set([
  "payment_intent.succeeded",
  "payment_intent.payment_failed",
  "payment_intent.canceled",
  "payment_intent.requires_action",
  "payment_intent.processing",
]);

/**
 * Reads the body of a message: an event as Stripe's webhook sends it, or the same in the `detail` of
 * Stripe's EventBridge destination. Undefined when it is neither.
 */
export function readStripeEvent(body: string): StripeEvent | undefined {
  const message = parseFields(body);
  const event = message["object"] === "event" ? message : fieldsOf(message["detail"]);
  if (event["object"] !== "event") return undefined;
  const { id, type, livemode, account, data } = event;
  if (!isId(id) || typeof type !== "string" || typeof livemode !== "boolean") return undefined;

  const known = { eventId: id, type: type.slice(0, MAX_ID), livemode };
  // A connected account's event names it; its payments are not the platform's.
  if (account !== undefined) return { ...known, about: "other" };
  return { ...known, ...subjectOf(type, fieldsOf(fieldsOf(data)["object"])) };
}

function subjectOf(type: string, { id, payment_intent: intent }: Fields): Subject {
  if (PAYMENT_TYPES.has(type) && isId(id)) return { about: "payment", paymentIntentId: id };
  if (!isId(id) || !isId(intent)) return { about: "other" };
  switch (type) {
    case "charge.refunded":
      return { about: "refund", paymentIntentId: intent, chargeId: id };
    case "charge.dispute.created":
      return { about: "dispute", paymentIntentId: intent, disputeId: id, phase: "created" };
    case "charge.dispute.closed":
      return { about: "dispute", paymentIntentId: intent, disputeId: id, phase: "closed" };
    default:
      return { about: "other" };
  }
}

const MAX_ID = 255;

/** Ids go into a URL and into the log: letters, digits and underscores, as all of Stripe's. */
function isId(value: unknown): value is string {
  return typeof value === "string" && value.length <= MAX_ID && /^\w+$/.test(value);
}
