// The payment fields of a message. Unknown fields are refused: one that is silently ignored
// charges something else than was meant. Validation libraries that skip keys such as
// `constructor` in silence cannot hold that rule, so the checks are written out.

import { fieldPath, invalid } from "./invalid.ts";
import type { Violation, Rule } from "./invalid.ts";
import { isObject, plainDigits } from "./json.ts";

export type Payment = {
  /** Minor units of the currency, never scaled: ¥80 is 80. */
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

// A lone surrogate or a NUL would not reach Stripe as it was sent.
const isText = (value: unknown): value is string =>
  typeof value === "string" && value.isWellFormed() && !value.includes("\0");

const text =
  (pattern: RegExp) =>
  (value: unknown): string | undefined =>
    isText(value) && pattern.test(value) ? value : undefined;

const CHECKS: { [Field in keyof Required<Payment>]: Check<Required<Payment>[Field]> } = {
  amount: { rule: "amount", read: readAmount },
  currency: { rule: "currency", read: readCurrency },
  customer: { rule: "customer", read: text(/^cus_[A-Za-z0-9_]{1,251}$/) },
  paymentMethod: { rule: "payment_method", read: text(/^pm_[A-Za-z0-9_]{1,252}$/) },
  // Stripe's own limit for PaymentIntent descriptions.
  description: { rule: "description", read: text(/^.{1,1000}$/su) },
  // https://docs.stripe.com/get-started/account/statement-descriptors
  statementDescriptorSuffix: {
    rule: "statement_descriptor_suffix",
    read: text(/^(?=.*[A-Za-z])[\x20-\x7e\u00a1-\u024f]{1,22}$(?<!.*[<>\\'"*].*)/),
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
  return payment as Payment; // every check above returned its field's type
}

function readAmount(value: unknown): number | undefined {
  // Stripe takes at most eight digits: https://docs.stripe.com/api/payment_intents/object
  const digits = plainDigits(value);
  return digits !== undefined && digits !== "0" && digits.length <= 8 ? Number(digits) : undefined;
}

function readCurrency(value: unknown): string | undefined {
  const code = typeof value === "string" && /^[A-Za-z]{3}$/.test(value) ? value : "";
  return CURRENCIES.has(code.toUpperCase()) ? code.toLowerCase() : undefined;
}

// https://docs.stripe.com/api/metadata: 50 keys, of which the worker uses one. Stripe takes an
// empty value for "unset this key", so it is not one here.
function readMetadata(value: unknown): Record<string, string> | undefined {
  if (!isObject(value)) return undefined;
  const entries = Object.entries(value);
  const valid = entries.every(
    ([key, item]) =>
      isText(key) && /^[^[\]]{1,40}$/u.test(key) && isText(item) && /^.{1,500}$/su.test(item),
  );
  if (!valid || entries.length > 49) return undefined;
  return Object.fromEntries(entries) as Record<string, string>;
}
