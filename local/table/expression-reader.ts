// Reads the text of an expression token by token, and what all expressions share: names, paths,
// :values, and what DynamoDB rejects of them.
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Expressions.html

import type { Type } from "./attribute-value.ts";
import { invalid } from "./errors.ts";
import type { Expression, Given, Path } from "./expression.ts";
import { RESERVED_WORDS } from "./reserved-words.ts";

export type Reader = ReturnType<typeof createReader>;

const TOKEN =
  /\s*([A-Za-z_][A-Za-z0-9_]*|#[A-Za-z0-9_]+|:[A-Za-z0-9_]+|<>|<=|>=|[=<>().,+-])|\s*(\S)/gy;
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
    const segments = [name()];
    while (take(".")) segments.push(name());
    return segments;
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
