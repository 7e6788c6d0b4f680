// Why a message is invalid: the field and the rule, never a value.

import { containsCardNumber } from "./card-data.ts";
import { isString } from "./json.ts";
import { RULES } from "./rules.ts";
import type { Rule } from "./rules.ts";

/** An invalid message: never charged, never acknowledged, on its way to the dead-letter queue. */
export type Violation = { field: string; rule: Rule };

export const invalid = (field: string, rule: Rule): { violation: Violation } => ({
  violation: { field, rule },
});

/** The violation as one sentence for an operator. */
export function explainViolation({ field, rule }: Violation): string {
  return `${field} ${sentenceOf(field, rule)}.`;
}

function sentenceOf(field: string, rule: Rule): string {
  if (rule === "card_number" && /^(?:(?:detail|Message)\.)*(?:meta\.)?id$/.test(field)) {
    return "holds what looks like a card number; use a UUID instead";
  }
  if (rule === "sender_time" && field.endsWith("meta.created_at")) {
    return "must be the sender's time in ms since 1970, such as 1795953600000";
  }
  return RULES[rule];
}

const LONGEST_PATH = 200;

/**
 * A field's path, fit for a log. Names come from the sender too: one that could hold a secret or
 * break a log line is not repeated.
 */
export function fieldPath(prefix: string, name: string): string {
  const safe = isString(name, /^[\w.-]+$/, 60) && !containsCardNumber(name);
  const path = prefix + (safe ? name : "(unprintable name)");
  return path.length <= LONGEST_PATH ? path : `${path.slice(0, LONGEST_PATH)}…`;
}
