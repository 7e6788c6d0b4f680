// Condition and filter expressions: read once into functions of the item.
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Expressions.OperatorsAndFunctions.html

import { bytesOf, compare, equal, typeOf } from "./attribute-value.ts";
import type { AttributeValue, Item, Type } from "./attribute-value.ts";
import { createReader, printed, remembered, valueAt } from "./expression-reader.ts";
import type { Expression, Given, Path, Reader } from "./expression-reader.ts";

type Holds = (item: Item | undefined, given: Given) => boolean;
type Operand = {
  read: (item: Item | undefined, given: Given) => AttributeValue | undefined;
  path?: Path;
  placeholder?: string;
};

/** `holds` tells whether it is true of the item, or of its absence. */
export type Condition = Expression & { holds: Holds };

export const conditionOf = remembered((text) => read("ConditionExpression", text));
export const filterOf = remembered((text) => read("FilterExpression", text));

/** What has an order. */
const ORDERED: readonly Type[] = ["S", "N", "B"];
const ORDERS: Record<string, (order: number) => boolean> = {
  "<": (order) => order < 0,
  "<=": (order) => order <= 0,
  ">": (order) => order > 0,
  ">=": (order) => order >= 0,
};

function read(parameter: string, text: string): Condition {
  const reader = createReader(parameter, text);
  const holds = either(reader);
  if (!reader.ended()) reader.fail();
  return { ...reader.expression, holds };
}

function either(reader: Reader): Holds {
  const first = both(reader);
  if (!reader.take("OR")) return first;
  const rest = either(reader);
  return (item, given) => first(item, given) || rest(item, given);
}

function both(reader: Reader): Holds {
  const first = one(reader);
  if (!reader.take("AND")) return first;
  const rest = both(reader);
  return (item, given) => first(item, given) && rest(item, given);
}

function one(reader: Reader): Holds {
  if (reader.take("NOT")) {
    const negated = one(reader);
    return (item, given) => !negated(item, given);
  }
  if (reader.peek() === "(") return inParentheses(reader);
  return call(reader) ?? comparison(reader);
}

function inParentheses(reader: Reader): Holds {
  reader.expect("(");
  const doubled = reader.peek() === "(";
  const inner = either(reader);
  // ((a) OR (b)) begins with two as well, but does not end with two.
  if (doubled && reader.peek(-1) === ")" && isWhole(reader)) {
    throw reader.refused("The expression has redundant parentheses;");
  }
  reader.expect(")");
  return inner;
}

/** Whether the parenthesis that has just been closed was opened right after the one that is still open. */
function isWhole(reader: Reader): boolean {
  let depth = 0;
  for (let back = -1; ; back -= 1) {
    if (reader.peek(back) === ")") depth += 1;
    if (reader.peek(back) === "(") depth -= 1;
    if (depth === 0) return reader.peek(back - 1) === "(";
  }
}

/** A function that is true or false. */
function call(reader: Reader): Holds | undefined {
  if (reader.peek(1) !== "(" || reader.peek() === "size") return undefined;
  const name = reader.next();
  reader.expect("(");
  const subject = operand(reader);
  const { read } = subject;
  if (subject.path === undefined && name.startsWith("attribute_")) {
    throw reader.refused(
      `Operator or function requires a document path; operator or function: ${name}`,
    );
  }
  const argument = (): Operand => {
    reader.expect(",");
    return operand(reader);
  };
  const holds = ((): Holds => {
    switch (name) {
      case "attribute_exists":
        return (item, given) => read(item, given) !== undefined;
      case "attribute_not_exists":
        return (item, given) => read(item, given) === undefined;
      case "attribute_type": {
        const type = argument();
        return binary(subject, type, (value, { S }) => typeOf(value) === S);
      }
      case "begins_with": {
        const prefix = argument();
        if (prefix.placeholder) {
          reader.typed(prefix.placeholder, "operator or function: begins_with", ["S", "B"]);
        }
        return binary(subject, prefix, beginsWith);
      }
      case "contains":
        return binary(subject, argument(), contains);
      default:
        throw reader.refused(`Invalid function name; function: ${name}`);
    }
  })();
  reader.expect(")");
  return holds;
}

function comparison(reader: Reader): Holds {
  const left = operand(reader);
  if (reader.take("IN")) {
    reader.expect("(");
    const list = [operand(reader)];
    while (reader.take(",")) list.push(operand(reader));
    reader.expect(")");
    const tests = list.map((right) => binary(left, right, equal));
    return (item, given) => tests.some((test) => test(item, given));
  }
  if (reader.take("BETWEEN")) {
    const low = ordered(reader, left, ">=", "BETWEEN");
    reader.expect("AND");
    const high = ordered(reader, left, "<=", "BETWEEN");
    return (item, given) => low(item, given) && high(item, given);
  }
  const operator = reader.peek();
  if (!(operator in ORDERS) && operator !== "=" && operator !== "<>") reader.fail();
  reader.next();
  if (operator in ORDERS) return ordered(reader, left, operator, operator);
  const right = operand(reader);
  distinct(reader, operator, left, right);
  const same = binary(left, right, equal);
  return operator === "=" ? same : (item, given) => !same(item, given);
}

function ordered(reader: Reader, left: Operand, order: string, name: string): Holds {
  const right = operand(reader);
  for (const { placeholder } of [left, right]) {
    if (placeholder) reader.typed(placeholder, `operator: ${name}`, ORDERED);
  }
  distinct(reader, name, left, right);
  const fits = ORDERS[order] as (order: number) => boolean;
  return binary(left, right, (a, b) => {
    const result = compare(a, b);
    return result !== undefined && fits(result);
  });
}

function distinct(reader: Reader, operator: string, left: Operand, right: Operand): void {
  const { path } = left;
  if (!path || !right.path || path.join(".") !== right.path.join(".")) return;
  reader.checks.push((given) => {
    throw reader.refused(
      `The first operand must be distinct from the remaining operands for this operator or function; operator: ${operator}, first operand: ${printed(path, given)}`,
    );
  });
}

function operand(reader: Reader): Operand {
  if (reader.peek() === "size" && reader.peek(1) === "(") {
    reader.next();
    reader.expect("(");
    const { read } = operand(reader);
    reader.expect(")");
    return { read: (item, given) => sizeOf(read(item, given)) };
  }
  if (reader.peek().startsWith(":")) {
    const placeholder = reader.value();
    return {
      placeholder,
      read: (_item, given) => given.ExpressionAttributeValues?.[placeholder],
    };
  }
  const path = reader.path();
  return { path, read: (item, given) => valueAt(item, path, given) };
}

/** True only when both operands are there. */
function binary(
  left: Operand,
  right: Operand,
  test: (a: AttributeValue, b: AttributeValue) => boolean,
): Holds {
  return (item, given) => {
    const a = left.read(item, given);
    const b = right.read(item, given);
    return a !== undefined && b !== undefined && test(a, b);
  };
}

function beginsWith(value: AttributeValue, prefix: AttributeValue): boolean {
  if (value.S !== undefined) return prefix.S !== undefined && value.S.startsWith(prefix.S);
  if (value.B === undefined || prefix.B === undefined) return false;
  const [bytes, start] = [bytesOf(value.B), bytesOf(prefix.B)];
  return bytes.subarray(0, start.length).equals(start);
}

function contains(value: AttributeValue, part: AttributeValue): boolean {
  if (value.S !== undefined) return part.S !== undefined && value.S.includes(part.S);
  if (value.B !== undefined)
    return part.B !== undefined && bytesOf(value.B).includes(bytesOf(part.B));
  if (value.SS) return part.S !== undefined && value.SS.includes(part.S);
  if (value.NS) return part.N !== undefined && value.NS.includes(part.N);
  if (value.BS) return part.B !== undefined && value.BS.includes(part.B);
  return value.L?.some((element) => equal(element, part)) ?? false;
}

/** Characters, bytes or elements; a number and the like have no size. */
function sizeOf(value: AttributeValue | undefined): AttributeValue | undefined {
  if (!value) return undefined;
  const { S, B, SS, NS, BS, L, M } = value;
  const sized = S ?? (B && bytesOf(B)) ?? SS ?? NS ?? BS ?? L ?? (M && Object.keys(M));
  return sized === undefined ? undefined : { N: String(sized.length) };
}
