// Whether a request to the webhook is Stripe's: its signature over the raw body, its age, its mode.
// https://docs.stripe.com/webhooks/signature

import { isUtf8 } from "node:buffer";

import { Stripe } from "stripe";

import type { StripeMode } from "./api-key.ts";

/** What a function URL hands over. Header names are in lower case. */
export type WebhookRequest = {
  method: string;
  headers: Readonly<Record<string, string | undefined>>;
  body: string;
  isBase64Encoded: boolean;
};

/** The event's body, byte for byte, or why the request is not accepted: never a value of it. */
export type Verified =
  | { kind: "event"; body: string; eventId: string; type: string }
  | { kind: "invalid"; status: 400 | 413; reason: InvalidReason };

export type InvalidReason =
  | "method"
  | "no_signature"
  | "too_large"
  | "not_utf8"
  | "signature"
  | "timestamp"
  | "not_an_event"
  | "mode";

// Stripe's own tolerance, which it applies to the past only.
const TOLERANCE_SECONDS = 300;

// A message of SQS holds 1 MiB, and a snapshot of Stripe's is far smaller.
// https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/quotas-messages.html
const MAX_BYTES = 512 * 1_024;

/**
 * Verifies a request with each secret: two of them while one is rolled. Cheap checks come first,
 * because anybody may send anything to a public address.
 *
 * @param now epoch ms
 */
export function verifyWebhook(
  request: WebhookRequest,
  secrets: readonly string[],
  mode: StripeMode | undefined,
  now: number,
): Verified {
  const header = request.headers["stripe-signature"];
  if (request.method !== "POST") return invalid("method");
  if (!header) return invalid("no_signature");
  const bytes = Buffer.from(request.body, request.isBase64Encoded ? "base64" : "utf8");
  if (header.length > MAX_HEADER || bytes.byteLength > MAX_BYTES) return invalid("too_large");
  if (!isUtf8(bytes)) return invalid("not_utf8"); // it would not become the same bytes again
  const body = bytes.toString();

  const event = secrets
    .map((secret) => constructEvent(body, header, secret, now))
    .find((result) => result !== "signature");
  if (event === undefined) return invalid("signature");
  if (event === "timestamp" || isAhead(header, now)) return invalid("timestamp");
  if (event === "not_an_event") return invalid("not_an_event");
  if (mode !== undefined && event.livemode !== (mode === "live")) return invalid("mode");
  return { kind: "event", body, eventId: event.id, type: event.type };
}

// A few signatures of 64 characters; a longer one only costs time.
const MAX_HEADER = 4_096;

function invalid(reason: InvalidReason): Verified {
  return { kind: "invalid", status: reason === "too_large" ? 413 : 400, reason };
}

function constructEvent(body: string, header: string, secret: string, now: number) {
  let event: Stripe.Event;
  try {
    event = Stripe.webhooks.constructEvent(body, header, secret, TOLERANCE_SECONDS, undefined, now);
  } catch (error) {
    if (!(error instanceof Stripe.errors.StripeSignatureVerificationError)) return "not_an_event";
    return error.message.startsWith("Timestamp outside") ? "timestamp" : "signature";
  }
  const { object, id, type, livemode } = (event as Partial<Stripe.Event> | null) ?? {};
  const isEvent = object === "event" && typeof id === "string" && typeof type === "string";
  return isEvent ? { id, type, livemode } : "not_an_event";
}

/** Whether a timestamp of the header is ahead of `now`: stripe-node takes one from any future. */
function isAhead(header: string, now: number): boolean {
  const times = [...header.matchAll(/(?:^|,)t=(\d{1,15})(?=,|$)/g)].map(([, time]) => Number(time));
  return times.some((time) => time - now / 1_000 > TOLERANCE_SECONDS);
}
