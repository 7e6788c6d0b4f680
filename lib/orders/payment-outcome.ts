// An outcome event as its consumer reads it: what happened to the payment of which order.

import { createHash } from "node:crypto";

import { fieldsOf, parseFields } from "../message/fields.ts";

/** What the consumer takes from an outcome event. */
export type PaymentOutcome = {
  /** `source` and `id` together are the event's identity, for ever. */
  source: string;
  id: string;
  messageId: string;
  revision: number;
  result: string;
  paymentIntentId?: string;
  /** In Stripe's smallest unit. */
  amount?: number;
  currency?: string;
  /** SHA-256 of what the event says, in hex: an event that comes again says the same. */
  hash: string;
};

/** Reads the body of an SQS message that EventBridge sent; undefined when it is no outcome event. */
export function readPaymentOutcome(body: string): PaymentOutcome | undefined {
  const { specversion, source, id, revision, data } = fieldsOf(parseFields(body)["detail"]);
  if (specversion !== "1.0") return undefined;
  const { messageId, result, paymentIntentId, amount, currency } = fieldsOf(data);
  if (!isText(source) || !isText(id) || !isText(messageId) || !isText(result)) return undefined;
  if (!Number.isSafeInteger(revision)) return undefined;
  const said = [revision, messageId, result, paymentIntentId, amount, currency];
  return {
    source,
    id,
    messageId,
    revision: revision as number,
    result,
    ...(isText(paymentIntentId) && { paymentIntentId }),
    ...(Number.isSafeInteger(amount) && { amount: amount as number }),
    ...(isText(currency) && { currency }),
    hash: createHash("sha256").update(JSON.stringify(said)).digest("hex"),
  };
}

function isText(value: unknown): value is string {
  return typeof value === "string" && value.length > 0 && value.length <= 512;
}
