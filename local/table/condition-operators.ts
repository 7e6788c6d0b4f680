// The operators and functions of conditions: read once into functions of the item.
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Expressions.OperatorsAndFunctions.html

import { compare, equal } from "./attribute-value.ts";
import type { AttributeValue, Item, Type } from "./attribute-value.ts";
import type { Reader } from "./expression-reader.ts";
import { valueAt } from "./expression.ts";
import type { Given, Path } from "./expression.ts";

export type Holds = (item: Item | undefined, given: Given) => boolean;
type Operand = {
  read: (item: Item | undefined, given: Given) => AttributeValue | undefined;
  path?: Path;
  placeholder?: string;
};

/** What has an order. */
const ORDERED: readonly Type[] = ["S", "N"];
const ORDERS: Record<string, (order: number) => boolean> = {
  "<": (order) => order < 0,
  "<=": (order) => order <= 0,
  ">": (order) => order > 0,
  ">=": (order) => order >= 0,
};

/** A function that is true or false. */
export function call(reader: Reader): Holds | undefined {
  if (reader.peek(1) !== "(") return undefined;
  const name = reader.next();
  reader.expect("(");
  const subject = operand(reader);
  const { read } = subject;
  if (subject.path === undefined && name.startsWith("attribute_")) {
    throw reader.refused(
      `Operator or function requires a document path; operator or function: ${name}`,
    );
  }
  const holds = ((): Holds => {
    switch (name) {
      case "attribute_exists":
        return (item, given) => read(item, given) !== undefined;
      case "attribute_not_exists":
        return (item, given) => read(item, given) === undefined;
      case "begins_with": {
        reader.expect(",");
        const prefix = operand(reader);
        if (prefix.placeholder) {
          reader.typed(prefix.placeholder, "operator or function: begins_with", ["S"]);
        }
        return binary(
          subject,
          prefix,
          (value, { S }) => S !== undefined && value.S?.startsWith(S) === true,
        );
      }
      default:
        throw reader.refused(`The local table does not know the function ${name}.`);
    }
  })();
  reader.expect(")");
  return holds;
}

export function comparison(reader: Reader): Holds {
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
  const same = binary(left, right, equal);
  return operator === "=" ? same : (item, given) => !same(item, given);
}

function ordered(reader: Reader, left: Operand, order: string, name: string): Holds {
  const right = operand(reader);
  for (const { placeholder } of [left, right]) {
    if (placeholder) reader.typed(placeholder, `operator: ${name}`, ORDERED);
  }
  const fits = ORDERS[order] as (order: number) => boolean;
  return binary(left, right, (a, b) => {
    const result = compare(a, b);
    return result !== undefined && fits(result);
  });
}

function operand(reader: Reader): Operand {
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
