// Reads the text of an expression token by token, and what all expressions share: names, paths,
// :values, and what DynamoDB refuses of them.
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Expressions.html

import type { AttributeValue, Item, Type } from "./attribute-value.ts";
import { invalid } from "./errors.ts";
import { RESERVED_WORDS } from "./reserved-words.ts";

/** What `#names` and `:values` stand for, in the request that the expression came with. */
export type Given = {
  ExpressionAttributeNames?: Record<string, string> | undefined;
  ExpressionAttributeValues?: Item | undefined;
};

/** Names, `#placeholders` and list indexes, as written. */
export type Path = readonly (string | number)[];

/** What every compiled expression has. */
export type Expression = {
  names: ReadonlySet<string>;
  values: ReadonlySet<string>;
  /** @throws DynamoDbError when a placeholder stands for nothing, or for a value of a wrong type */
  check: (given: Given) => void;
};

export type Reader = ReturnType<typeof createReader>;

const TOKEN =
  /\s*([A-Za-z_][A-Za-z0-9_]*|#[A-Za-z0-9_]+|:[A-Za-z0-9_]+|\d+|<>|<=|>=|[=<>()[\].,+-])|\s*(\S)/gy;
const END = "<EOF>";

/** `parameter` is the request's field that the text came in: its errors name it. */
export function createReader(parameter: string, text: string) {
  const refused = (what: string) => invalid(`Invalid ${parameter}: ${what}`);
  const tokens: { text: string; from: number; to: number }[] = [];
  for (const match of text.matchAll(TOKEN)) {
    const token = match[1] ?? match[2] ?? "";
    const to = match.index + match[0].length;
    tokens.push({ text: token, from: to - token.length, to });
  }
  const names = new Set<string>();
  const values = new Set<string>();
  const checks: ((given: Given) => void)[] = [];
  let at = 0;

  if (text === "") throw refused("The expression can not be empty;");

  const peek = (ahead = 0): string => tokens[at + ahead]?.text ?? END;

  function fail(): never {
    const near = text.slice(tokens[at - 1]?.from ?? 0, tokens[at + 1]?.to ?? text.length).trim();
    throw refused(`Syntax error; token: "${peek()}", near: "${near}"`);
  }

  function next(): string {
    const token = peek();
    at += 1;
    return token;
  }

  /** Takes the token if it is this one, whatever its case. */
  function take(token: string): boolean {
    if (peek().toUpperCase() !== token) return false;
    at += 1;
    return true;
  }

  function expect(token: string): void {
    if (!take(token)) fail();
  }

  function name(): string {
    const token = peek();
    if (token.startsWith("#")) names.add(token);
    else if (!/^[A-Za-z_]/.test(token)) fail();
    else if (RESERVED_WORDS.has(token.toUpperCase())) {
      throw refused(`Attribute name is a reserved keyword; reserved keyword: ${token}`);
    }
    return next();
  }

  function path(): Path {
    const segments: (string | number)[] = [name()];
    for (;;) {
      if (take(".")) segments.push(name());
      else if (take("[")) {
        if (!/^\d+$/.test(peek())) fail();
        segments.push(Number(next()));
        expect("]");
      } else return segments;
    }
  }

  function value(): string {
    if (!peek().startsWith(":")) fail();
    values.add(peek());
    return next();
  }

  /** Holds a `:value` to what an operator or a function takes. */
  function typed(placeholder: string, operator: string, allowed: readonly Type[]): void {
    checks.push(({ ExpressionAttributeValues: given }) => {
      const type = Object.keys(given?.[placeholder] ?? {})[0] as Type;
      if (allowed.includes(type)) return;
      throw refused(
        `Incorrect operand type for operator or function; ${operator}, operand type: ${type}`,
      );
    });
  }

  function check(given: Given): void {
    for (const placeholder of names) {
      if (given.ExpressionAttributeNames?.[placeholder] === undefined) {
        throw refused(
          `An expression attribute name used in the document path is not defined; attribute name: ${placeholder}`,
        );
      }
    }
    for (const placeholder of values) {
      if (given.ExpressionAttributeValues?.[placeholder] === undefined) {
        throw refused(
          `An expression attribute value used in expression is not defined; attribute value: ${placeholder}`,
        );
      }
    }
    for (const holdTo of checks) holdTo(given);
  }

  const ended = () => at >= tokens.length;
  const expression: Expression = { names, values, check };
  return { peek, next, take, expect, fail, ended, path, value, typed, checks, refused, expression };
}

/** @throws DynamoDbError when a placeholder is given that no expression uses */
export function checkUnused(given: Given, used: readonly (Expression | undefined)[]): void {
  for (const [field, key] of PLACEHOLDERS) {
    const placeholders = Object.keys(given[field] ?? {});
    const unused = placeholders.filter((one) => !used.some((by) => by?.[key].has(one)));
    if (unused.length > 0) {
      throw invalid(
        `Value provided in ${field} unused in expressions: keys: {${unused.join(", ")}}`,
      );
    }
  }
}

const PLACEHOLDERS = [
  ["ExpressionAttributeNames", "names"],
  ["ExpressionAttributeValues", "values"],
] as const;

/** The name that a segment stands for. */
export function nameOf(segment: string, given: Given): string {
  return segment.startsWith("#") ? (given.ExpressionAttributeNames?.[segment] as string) : segment;
}

/** What the path leads to in the item. */
export function valueAt(
  item: Item | undefined,
  path: Path,
  given: Given,
): AttributeValue | undefined {
  let value = item?.[nameOf(path[0] as string, given)];
  for (let i = 1; i < path.length && value; i += 1) {
    const segment = path[i] as string | number;
    value = typeof segment === "number" ? value.L?.[segment] : value.M?.[nameOf(segment, given)];
  }
  return value;
}

/** The path as DynamoDB writes it in its errors. */
export function printed(path: Path, given: Given): string {
  return `[${path.map((part) => (typeof part === "number" ? `[${part}]` : nameOf(part, given))).join(", ")}]`;
}

/** Expressions are few and run often: each is read once. */
export function remembered<T>(read: (text: string) => T): (text: string) => T {
  const known = new Map<string, T>();
  return (text) => {
    let value = known.get(text);
    if (value === undefined) {
      value = read(text);
      known.set(text, value);
    }
    return value;
  };
}
