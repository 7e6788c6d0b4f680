// Condition and filter expressions: read once into functions of the item.
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Expressions.OperatorsAndFunctions.html

import { call, comparison } from "./condition-operators.ts";
import type { Holds } from "./condition-operators.ts";
import { createReader } from "./expression-reader.ts";
import type { Reader } from "./expression-reader.ts";
import { remembered } from "./expression.ts";
import type { Expression } from "./expression.ts";

/** `holds` says whether it is true of the item, or of its absence. */
export type Condition = Expression & { holds: Holds };

export const conditionOf = remembered((text) => read("ConditionExpression", text));
export const filterOf = remembered((text) => read("FilterExpression", text));

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
