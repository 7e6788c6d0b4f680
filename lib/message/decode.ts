// Decodes a queue's body into one payment message, or into the rule that it violates.

import type { WorkerTimings } from "../timing/payments.ts";
import { containsCardNumber, namesSecurityCode } from "./card-data.ts";
import { unwrap } from "./envelope.ts";
import type { Envelope } from "./envelope.ts";
import { fieldPath } from "./invalid.ts";
import type { Violation } from "./invalid.ts";
import { isObject, isString, numberLiteral, plainDigits } from "./json.ts";
import { readPayment } from "./payment.ts";
import type { Payment } from "./payment.ts";

export type PaymentMessage = {
  /** The identity that the sender minted for this one operation. */
  id: string;
  /** The sender's own time, in epoch ms. */
  sentAt: number;
  payment: Payment;
  traceId?: string;
};

export type Decoded =
  | { kind: "message"; message: PaymentMessage }
  /** `messageId` is there when the id itself was readable. */
  | { kind: "invalid"; violation: Violation; messageId?: string };

type Limits = Pick<WorkerTimings, "maxMessageAgeMs" | "maxSenderAheadMs">;

/**
 * Decodes and validates a message. Never throws. `now` is in epoch ms; `schemaVersion` is
 * BabelQueue's message attribute, when there is one.
 */
export function decodeMessage(
  body: string,
  now: number,
  limits: Limits,
  schemaVersion?: string,
): Decoded {
  const envelope = unwrap(body, schemaVersion);
  if ("violation" in envelope) return { kind: "invalid", violation: envelope.violation };

  const cardData = findCardData(envelope.whole, "");
  if (cardData) return { kind: "invalid", violation: cardData };

  const { value: id, field: idField } = envelope.id;
  if (!isString(id, /^[\x21-\x7e]+$/, 255)) {
    return { kind: "invalid", violation: { field: idField, rule: "message_id" } };
  }

  const sentAt = readSenderTime(envelope.sentAt, now, limits);
  if (typeof sentAt === "object") return { kind: "invalid", violation: sentAt, messageId: id };

  const payment = readPayment(envelope.payment.value, envelope.payment.field);
  if ("violation" in payment)
    return { kind: "invalid", violation: payment.violation, messageId: id };

  const { traceId } = envelope;
  const traced = isString(traceId, /^[\w.:;=-]+$/, 200);
  return { kind: "message", message: { id, sentAt, payment, ...(traced && { traceId }) } };
}

function readSenderTime(
  { value, field, unit }: Envelope["sentAt"],
  now: number,
  limits: Limits,
): number | Violation {
  const sentAt = unit === "epoch-ms" ? Number(plainDigits(value) ?? NaN) : parseRfc3339(value);
  if (Number.isNaN(sentAt)) return { field, rule: "sender_time" };
  if (sentAt > now + limits.maxSenderAheadMs) return { field, rule: "sender_time_ahead" };
  if (sentAt < now - limits.maxMessageAgeMs) return { field, rule: "message_too_old" };
  return sentAt;
}

function parseRfc3339(value: unknown): number {
  const format =
    /^\d{4}-\d\d-\d\dT(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{1,9})?(?:Z|[+-][01]\d:[0-5]\d)$/i;
  if (!isString(value, format, 35)) return NaN;
  const day = value.slice(0, 10);
  // V8 reads 30 February as 2 March: a day that does not come back is not in the calendar.
  const midnight = new Date(`${day}T00:00:00Z`);
  if (Number.isNaN(midnight.getTime()) || midnight.toISOString().slice(0, 10) !== day) return NaN;
  return Date.parse(value.toUpperCase());
}

// As deep as the message, which is bounded.
function findCardData(value: unknown, path: string): Violation | undefined {
  const text = typeof value === "string" ? value : numberLiteral(value);
  if (text !== undefined) {
    return containsCardNumber(text) ? { field: path, rule: "card_number" } : undefined;
  }
  if (Array.isArray(value)) return firstDefined(value, (item) => findCardData(item, path));
  if (!isObject(value)) return undefined;
  return firstDefined(Object.entries(value), ([name, item]) => {
    const field = fieldPath(path && `${path}.`, name);
    if (namesSecurityCode(name)) return { field, rule: "card_data" };
    if (containsCardNumber(name)) return { field, rule: "card_number" };
    return findCardData(item, field);
  });
}

function firstDefined<T, R>(items: readonly T[], find: (item: T) => R | undefined): R | undefined {
  for (const item of items) {
    const found = find(item);
    if (found !== undefined) return found;
  }
  return undefined;
}
