// JSON as the sender wrote it: numbers keep their digits, and a key given two values is an error.
// JSON.parse would round 9007199254740993 and let the second of two amounts win.

import { LosslessNumber, parse } from "lossless-json";

import { exceededBound } from "./bounds.ts";
import type { Rule } from "./rules.ts";

export type JsonObject = { readonly [key: string]: unknown };

/** The object that the string holds, or the rule that it violates. */
export function parseObject(text: string): { object: JsonObject } | { rule: Rule } {
  const bound = exceededBound(text);
  if (bound) return { rule: bound };
  try {
    const object = parse(text);
    return isObject(object) ? { object } : { rule: "body_json" };
  } catch {
    return { rule: "body_json" };
  }
}

/**
 * Whether a value is a string that matches, of at most this many UTF-16 units: a regular expression
 * gets nothing longer, whatever was sent.
 */
export function isString(value: unknown, pattern: RegExp, maxLength: number): value is string {
  return typeof value === "string" && value.length <= maxLength && pattern.test(value);
}

export function isObject(value: unknown): value is JsonObject {
  return (
    typeof value === "object" &&
    value !== null &&
    !Array.isArray(value) &&
    !(value instanceof LosslessNumber)
  );
}

/** The digits of a number written as a plain non-negative integer; undefined for anything else. */
export function plainDigits(value: unknown): string | undefined {
  const literal = numberLiteral(value);
  return isString(literal, /^(0|[1-9]\d*)$/, 100) ? literal : undefined;
}

/** A number as it was written; undefined for anything else. */
export function numberLiteral(value: unknown): string | undefined {
  return value instanceof LosslessNumber ? value.value : undefined;
}
