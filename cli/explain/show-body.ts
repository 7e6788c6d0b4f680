// A dead letter's body without its values, and in which fields it differs from the payment of its id.
import type { Stripe } from "stripe";

import type { PaymentMessage } from "../../lib/message/decode.ts";
import { chargeParams } from "../../lib/payments/charge.ts";
import type { ChargeParams } from "../../lib/payments/charge.ts";
import { chargedParamsOf } from "../../lib/stripe/payment-intents.ts";

const LONGEST = 4_000;

/**
 * The body with each letter of its values as `x` and each digit as `0`: what is wrong with a value's
 * form stays visible, the value does not. Names of fields stay, unless they could be a value.
 */
export function maskBody(body: string): string {
  let masked: string;
  try {
    masked = JSON.stringify(maskValue(JSON.parse(body)), undefined, 2);
  } catch {
    masked = maskText(body);
  }
  return masked.length > LONGEST ? `${masked.slice(0, LONGEST)} …` : masked;
}

function maskValue(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(maskValue);
  if (typeof value === "object" && value !== null) {
    return Object.fromEntries(
      Object.entries(value).map(([name, inner]) => [
        /^[A-Za-z][\w-]{0,39}$/.test(name) && !/\d{4}/.test(name) ? name : maskText(name),
        maskValue(inner),
      ]),
    );
  }
  // A number becomes a string: 000 is not JSON.
  return typeof value === "string" || typeof value === "number" ? maskText(String(value)) : value;
}

function maskText(text: string): string {
  return text.replaceAll(/\p{L}/gu, "x").replaceAll(/\p{N}/gu, "0");
}

const FIELDS: Partial<Record<keyof ChargeParams, string>> = {
  amount: "amount",
  currency: "currency",
  customer: "customer",
  payment_method: "paymentMethod",
  description: "description",
  statement_descriptor_suffix: "statementDescriptorSuffix",
  metadata: "metadata",
};

/** In which fields a message differs from the payment that Stripe has under its id. */
export function describeDifference(message: PaymentMessage, charged: Stripe.PaymentIntent): string {
  const fields = differingFields(chargeParams(message), chargedParamsOf(charged));
  return fields.join(", ") || "in a paymentMethod that Stripe's test mode has replaced";
}

/** The message's fields that differ from what was charged, by name. */
export function differingFields(message: ChargeParams, charged: ChargeParams): string[] {
  return Object.entries(FIELDS).flatMap(([param, field]) => {
    const [ours, theirs] = [message, charged].map((params) => params[param as keyof ChargeParams]);
    // Stripe replaces the names of its test payment methods: they cannot be compared.
    const isReplaced = /^pm_[A-Za-z]+_/.test(message.payment_method);
    if (param === "payment_method" && isReplaced) return [];
    return canonical(ours) === canonical(theirs) ? [] : [field];
  });
}

function canonical(value: unknown): string | undefined {
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  return JSON.stringify(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)));
}
