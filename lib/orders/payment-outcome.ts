// An outcome event as its consumer reads it: what happened to the payment of which order.

import { createHash } from "node:crypto";

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

type Fields = { readonly [name: string]: unknown };

/** Reads the body of an SQS message that EventBridge sent; undefined when it is no outcome event. */
export function readPaymentOutcome(body: string): PaymentOutcome | undefined {
  const event = objectOf(objectOf(parse(body))?.["detail"]);
  const data = objectOf(event?.["data"]);
  if (!event || !data || event["specversion"] !== "1.0") return undefined;
  const { source, id, revision } = event;
  const { messageId, result, paymentIntentId, amount, currency } = data;
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

function parse(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}

function objectOf(value: unknown): Fields | undefined {
  return typeof value === "object" && value !== null && !Array.isArray(value)
    ? (value as Fields)
    : undefined;
}
