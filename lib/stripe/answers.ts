// What Stripe's answers mean. An unknown result stays unknown: only an answer that Stripe will
// repeat for this key is an outcome.
// https://docs.stripe.com/error-low-level, https://docs.stripe.com/api/idempotent_requests

import { Stripe } from "stripe";

import type { ChargeAnswer } from "../payments/protocol.ts";
import type { AttemptError } from "../payments/record.ts";

/** What a PaymentIntent says: created now, replayed, or found. */
export function answerOf(intent: Stripe.PaymentIntent, requestId?: string): ChargeAnswer {
  const paymentIntentId = intent.id;
  const known = requestId === undefined ? {} : { requestId };
  switch (intent.status) {
    case "succeeded":
      return { kind: "outcome", outcome: { result: "succeeded", paymentIntentId }, ...known };
    case "processing": // a bank debit: not paid, and perhaps not for days
      return { kind: "outcome", outcome: { result: "processing", paymentIntentId }, ...known };
    case "requires_action":
      return { kind: "outcome", outcome: { result: "requires_action", paymentIntentId }, ...known };
    case "canceled": // by hand or by Stripe, since an earlier attempt: only a lookup sees it
      return { kind: "outcome", outcome: { result: "canceled", paymentIntentId }, ...known };
    case "requires_payment_method": {
      // Only a lookup sees this one: at its creation it was the 402 below.
      const error = intent.last_payment_error;
      if (error) return { ...declined(error, paymentIntentId), ...known };
      break;
    }
    case "requires_capture":
    case "requires_confirmation":
    default:
      // Capture is automatic and confirmation immediate: no other status is expected.
      break;
  }
  return {
    kind: "error",
    error: { kind: "unexpected", code: `status_${intent.status}`, ...known },
  };
}

/**
 * What an error of stripe-node says.
 *
 * @throws the error itself when it is not Stripe's.
 */
export function answerOfError(error: unknown): ChargeAnswer {
  if (!(error instanceof Stripe.errors.StripeError)) throw error;
  if (error.type === "StripeCardError" && error.rawType === "card_error") {
    const answer = declined(error, error.payment_intent?.id);
    return { ...answer, ...(error.requestId && { requestId: error.requestId }) };
  }
  return {
    kind: "error",
    error: {
      kind: kindOf(error),
      code: error.code || codeOf(error),
      ...(error.param && { param: error.param }),
      ...(error.requestId && { requestId: error.requestId }),
    },
  };
}

// Codes that say of the account or its key that it cannot charge anyone: every message would be
// rejected. https://docs.stripe.com/error-codes
const ACCOUNT_CODES: ReadonlySet<string | undefined> = new Set([
  "account_invalid",
  "api_key_expired",
  "livemode_mismatch",
  "platform_account_required",
  "platform_api_key_expired",
  "secret_key_required",
  "testmode_charges_only",
  "tls_version_unsupported",
]);

function kindOf(error: Stripe.errors.StripeError): AttemptError["kind"] {
  // Whatever class it comes as: 409 is a StripeAPIError, like a 500.
  if (error.code === "idempotency_key_in_use") return "stripe_key_in_use";
  if (ACCOUNT_CODES.has(error.code)) return "stripe_configuration";
  switch (error.type) {
    case "StripeConnectionError":
      return "stripe_unavailable";
    case "StripeRateLimitError":
      return "stripe_rate_limited";
    case "StripeAuthenticationError":
    case "StripePermissionError":
      return "stripe_configuration";
    case "StripeIdempotencyError":
      return "stripe_conflict";
    case "StripeInvalidRequestError":
      return "stripe_rejected";
    case "StripeAPIError":
      return "stripe_unavailable"; // 5xx, a lock timeout, or a body that is not JSON
    default:
      return "unexpected";
  }
}

function codeOf(error: Stripe.errors.StripeError): string {
  if (error.type === "StripeConnectionError") {
    return error.message.includes("timeout") ? "timeout" : "connection";
  }
  return error.statusCode ? `http_${error.statusCode}` : "no_json";
}

function declined(
  error: { code?: string | undefined; decline_code?: string | undefined },
  paymentIntentId: string | undefined,
): ChargeAnswer {
  return {
    kind: "outcome",
    outcome: {
      result: "declined",
      ...(paymentIntentId && { paymentIntentId }),
      code: error.code || "card_error",
      // stripe-node makes an absent one ''.
      ...(error.decline_code && { declineCode: error.decline_code }),
    },
  };
}
