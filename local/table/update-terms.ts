// What SET assigns: values, paths, sums and functions, read once into functions of the item.
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Expressions.UpdateExpressions.html

import type { AttributeValue, Item } from "./attribute-value.ts";
import { invalid } from "./errors.ts";
import type { Reader } from "./expression-reader.ts";
import { valueAt } from "./expression.ts";
import type { Given } from "./expression.ts";
import { addNumbers } from "./numbers.ts";

export type Read = (item: Item, given: Given) => AttributeValue;

export const wrongType = () =>
  invalid("An operand in the update expression has an incorrect data type");

export function sum(reader: Reader): Read {
  const left = term(reader);
  const operator = reader.peek();
  if (operator !== "+" && operator !== "-") return left;
  reader.next();
  const right = term(reader);
  return (item, given) => {
    const [a, b] = [left(item, given), right(item, given)];
    if (a.N === undefined || b.N === undefined) throw wrongType();
    return { N: addNumbers(a.N, b.N, operator === "+" ? 1 : -1) };
  };
}

function term(reader: Reader): Read {
  if (reader.peek().startsWith(":")) {
    const placeholder = reader.value();
    return (_item, given) => given.ExpressionAttributeValues?.[placeholder] as AttributeValue;
  }
  if (reader.peek(1) !== "(") {
    const path = reader.path();
    return (item, given) => {
      const value = valueAt(item, path, given);
      if (value) return value;
      throw invalid(
        "The provided expression refers to an attribute that does not exist in the item",
      );
    };
  }
  const name = reader.next();
  reader.expect("(");
  if (name === "if_not_exists") {
    const path = reader.path();
    reader.expect(",");
    const fallback = sum(reader);
    reader.expect(")");
    return (item, given) => valueAt(item, path, given) ?? fallback(item, given);
  }
  if (name !== "list_append") throw reader.refused(`Invalid function name; function: ${name}`);
  const head = sum(reader);
  reader.expect(",");
  const tail = sum(reader);
  reader.expect(")");
  return (item, given) => {
    const [a, b] = [head(item, given), tail(item, given)];
    if (!a.L || !b.L) throw wrongType();
    return { L: [...a.L, ...b.L] };
  };
}
