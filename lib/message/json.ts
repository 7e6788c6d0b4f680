// JSON as the sender wrote it: numbers keep their digits, and a key given two values is an error.
// JSON.parse would round 9007199254740993 and let the second of two amounts win.

import { LosslessNumber, parse } from "lossless-json";

export type JsonObject = { readonly [key: string]: unknown };

/** The object that the text holds; undefined when it is no JSON object or gives a key two values. */
export function parseObject(text: string): JsonObject | undefined {
  try {
    const value = parse(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined; // also a RangeError, for nesting deeper than the stack
  }
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
  return value instanceof LosslessNumber && /^(0|[1-9]\d*)$/.test(value.value)
    ? value.value
    : undefined;
}
