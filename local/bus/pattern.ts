// EventBridge's event patterns, as far as rules for payments use them: exact values, prefix, suffix,
// anything-but, exists and numeric.
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
export function compilePattern(text: string): Pattern {
  let pattern: Json;
  try {
    pattern = JSON.parse(text);
  } catch {
    throw invalid("it is not JSON.");
  }
  if (!isObject(pattern)) throw invalid("it is not an object.");
  return compileObject(pattern, "");
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
  const unknown = () => invalid(`Unrecognized match type ${operator} at ${path}.`);
  if (more.length > 0) throw unknown();
  switch (operator) {
    case "exists":
      return (values) => values.length > 0 === (operand === true);
    case "prefix":
      return some((value) => typeof value === "string" && value.startsWith(String(operand)));
    case "suffix":
      return some((value) => typeof value === "string" && value.endsWith(String(operand)));
    case "anything-but":
      return compileAnythingBut(operand, path);
    case "numeric":
      return compileNumeric(operand, path);
    default:
      throw unknown();
  }
}

const some =
  (test: (value: Json) => boolean): Test =>
  (values) =>
    values.some(test);

function compileAnythingBut(operand: Json, path: string): Test {
  const excluded: Test = isObject(operand)
    ? compileMatcher(operand, path)
    : some((value) => valuesOf(operand).includes(value));
  return some((value) => !excluded([value]));
}

const COMPARE: Readonly<Record<string, (a: number, b: number) => boolean>> = {
  "=": (a, b) => a === b,
  "<": (a, b) => a < b,
  "<=": (a, b) => a <= b,
  ">": (a, b) => a > b,
  ">=": (a, b) => a >= b,
};

function compileNumeric(operand: Json, path: string): Test {
  const terms = Array.isArray(operand) ? operand : [];
  const comparisons = Array.from({ length: terms.length / 2 }, (_, index) => {
    const compare = COMPARE[String(terms[2 * index])];
    const bound: Json = terms[2 * index + 1];
    if (!compare || typeof bound !== "number") {
      throw invalid(`Bad numeric comparison at ${path}.`);
    }
    return (value: number) => compare(value, bound);
  });
  if (comparisons.length === 0 || terms.length % 2 === 1) {
    throw invalid(`Bad numeric comparison at ${path}.`);
  }
  return some(
    (value) => typeof value === "number" && comparisons.every((comparison) => comparison(value)),
  );
}

const invalid = (reason: string) =>
  new InvalidPattern(`Event pattern is not valid. Reason: ${reason}`);

function isObject(value: Json): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
