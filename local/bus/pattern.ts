// EventBridge's event patterns, as far as rules for payments use them: exact values, prefix,
// anything-but and exists.
// https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-create-pattern-operators.html

type Json = unknown;
type JsonObject = { readonly [key: string]: Json };

/** Whether an event, or a part of one, matches. */
export type Pattern = (event: JsonObject) => boolean;

/** A pattern that EventBridge would not take. */
export class InvalidPattern extends Error {
  override name = "InvalidEventPatternException";
}

/**
 * Compiles a pattern. Every field that it names must match; those that it does not name may be
 * anything.
 *
 * @throws InvalidPattern
 */
export function compilePattern(pattern: object): Pattern {
  return compileObject(pattern as JsonObject, "");
}

function compileObject(pattern: JsonObject, path: string): Pattern {
  const fields = Object.entries(pattern).map(([name, inner]) => {
    const at = path ? `${path}.${name}` : name;
    if (Array.isArray(inner)) {
      if (inner.length === 0) throw invalid(`Empty arrays are not allowed: ${at}.`);
      const tests = inner.map((matcher) => compileMatcher(matcher, at));
      return (event: JsonObject) => tests.some((test) => test(valuesOf(event[name])));
    }
    if (!isObject(inner)) {
      throw invalid(`"${at}" must be an object or an array.`);
    }
    const nested = compileObject(inner, at);
    return (event: JsonObject) => {
      const value = event[name];
      return nested(isObject(value) ? value : {});
    };
  });
  return (event) => fields.every((field) => field(event));
}

/** An array of the event matches when one of its values does. */
function valuesOf(value: Json): readonly Json[] {
  if (value === undefined) return [];
  return Array.isArray(value) ? value : [value];
}

type Test = (values: readonly Json[]) => boolean;

function compileMatcher(matcher: Json, path: string): Test {
  if (!isObject(matcher)) return (values) => values.includes(matcher);
  const [[operator, operand] = ["", undefined], ...more] = Object.entries(matcher);
  switch (more.length > 0 ? undefined : operator) {
    case "exists":
      return (values) => values.length > 0 === (operand === true);
    case "prefix":
      return (values) =>
        values.some((value) => typeof value === "string" && value.startsWith(String(operand)));
    case "anything-but":
      return (values) => values.some((value) => !valuesOf(operand).includes(value));
    case undefined:
    default:
      throw invalid(`The local bus does not know ${operator} at ${path}.`);
  }
}

const invalid = (reason: string) =>
  new InvalidPattern(`Event pattern is not valid. Reason: ${reason}`);

function isObject(value: Json): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
