// The payment fields of a message. Unknown fields are invalid: one that is silently ignored
// charges something else than was meant. Validation libraries that skip keys such as
// `constructor` in silence cannot hold that rule, so the checks are written out.

import { fieldPath, invalid } from "./invalid.ts";
import type { Violation } from "./invalid.ts";
import { isObject, isString, plainDigits } from "./json.ts";
import type { Rule } from "./rules.ts";

export type Payment = {
  /** Stripe's smallest units of the currency, never scaled: ¥80 is 80. */
  amount: number;
  /** ISO 4217, lower case. */
  currency: string;
  customer: string;
  paymentMethod: string;
  description?: string;
  statementDescriptorSuffix?: string;
  metadata?: Record<string, string>;
};

type Check<T> = { rule: Rule; read: (value: unknown) => T | undefined };

const CURRENCIES = new Set(Intl.supportedValuesOf("currency")); // ISO 4217, as ICU knows it

// Stripe describes lengths as maxLength of JSON Schema, which counts code points:
// https://github.com/stripe/openapi. A lone surrogate or a NUL would not reach Stripe as sent.
const isText = (value: unknown, pattern: RegExp, maxLength: number): value is string =>
  isString(value, pattern, 2 * maxLength) && value.isWellFormed() && !value.includes("\0");

const text =
  (pattern: RegExp, maxLength: number) =>
  (value: unknown): string | undefined =>
    isText(value, pattern, maxLength) ? value : undefined;

const id = (pattern: RegExp) => (value: unknown) =>
  isString(value, pattern, 255) ? value : undefined;

const CHECKS: { [Field in keyof Required<Payment>]: Check<Required<Payment>[Field]> } = {
  amount: { rule: "amount", read: readAmount },
  currency: { rule: "currency", read: readCurrency },
  // An account may choose its customers' ids. No character here means anything in a URL's path, a
  // query or a log line, and no id is a path such as `..`. Stripe's own have 255 characters at most:
  // https://docs.stripe.com/upgrades#what-changes-does-stripe-consider-to-be-backward-compatible
  customer: { rule: "customer", read: id(/^[A-Za-z0-9][\w.@:+-]*$/) },
  // "ID of the payment method (a PaymentMethod, Card, or compatible Source object)", and bank
  // accounts of the same age: https://docs.stripe.com/api/payment_intents/create
  paymentMethod: { rule: "payment_method", read: id(/^(?:pm|card|src|ba)_\w+$/) },
  // Stripe's own limit for PaymentIntent descriptions.
  description: { rule: "description", read: text(/^.{1,1000}$/su, 1_000) },
  // https://docs.stripe.com/get-started/account/statement-descriptors
  statementDescriptorSuffix: {
    rule: "statement_descriptor_suffix",
    read: text(/^(?=.*[A-Za-z])(?!.*[<>\\'"*])[\x20-\x7e\u00a1-\u024f]{1,22}$/, 22),
  },
  metadata: { rule: "metadata", read: readMetadata },
};

const OPTIONAL: ReadonlySet<string> = new Set<keyof Payment>([
  "description",
  "statementDescriptorSuffix",
  "metadata",
]);

/** Reads the payment, or says which field breaks which rule. `prefix` is the path to its fields. */
export function readPayment(value: unknown, prefix: string): Payment | { violation: Violation } {
  if (!isObject(value)) return invalid(prefix.slice(0, -1), "required");

  const unknown = Object.keys(value).find((name) => !Object.hasOwn(CHECKS, name));
  if (unknown !== undefined) return invalid(fieldPath(prefix, unknown), "unknown_field");

  const metadata = value["metadata"];
  if (isObject(metadata) && Object.hasOwn(metadata, "message_id")) {
    return invalid(`${prefix}metadata.message_id`, "metadata_message_id");
  }

  const payment: Record<string, unknown> = {};
  for (const [field, { rule, read }] of Object.entries(CHECKS)) {
    const given = value[field];
    if (given === undefined) {
      if (OPTIONAL.has(field)) continue;
      return invalid(prefix + field, "required");
    }
    payment[field] = read(given);
    if (payment[field] === undefined) return invalid(prefix + field, rule);
  }
  const { amount, currency } = payment as Payment; // every check above returned its field's type
  if (amount % (SMALLEST_CHARGES.get(currency) ?? 1) !== 0) {
    return invalid(`${prefix}amount`, "amount_unit");
  }
  return payment as Payment;
}

// Up to twelve digits for cards in every currency, fewer for some networks and other methods, which
// only Stripe knows: https://docs.stripe.com/currencies#minimum-and-maximum-charge-amounts
function readAmount(value: unknown): number | undefined {
  const digits = plainDigits(value);
  return digits !== undefined && digits !== "0" && digits.length <= 12 ? Number(digits) : undefined;
}

// In smallest units. Three decimals of which the last must be 0, and two that must be 00:
// https://docs.stripe.com/currencies#three-decimal and #special-cases
const SMALLEST_CHARGES = new Map([
  ...["bhd", "jod", "kwd", "omr", "tnd"].map((currency) => [currency, 10] as const),
  ...["isk", "ugx"].map((currency) => [currency, 100] as const),
]);

function readCurrency(value: unknown): string | undefined {
  const code = isString(value, /^[A-Za-z]{3}$/, 3) ? value : "";
  return CURRENCIES.has(code.toUpperCase()) ? code.toLowerCase() : undefined;
}

// https://docs.stripe.com/api/metadata: 50 keys, of which the worker uses one. Stripe takes an
// empty value for "unset this key", so it is not one here.
function readMetadata(value: unknown): Record<string, string> | undefined {
  if (!isObject(value)) return undefined;
  const entries = Object.entries(value);
  const valid = entries.every(
    ([key, item]) => isText(key, /^[^[\]]{1,40}$/u, 40) && isText(item, /^.{1,500}$/su, 500),
  );
  if (!valid || entries.length > 49) return undefined;
  return Object.fromEntries(entries) as Record<string, string>;
}
