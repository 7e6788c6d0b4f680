// Update expressions, SET, REMOVE and ADD: read once into actions on a copy of the item.
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Expressions.UpdateExpressions.html

import type { AttributeValue, Item } from "./attribute-value.ts";
import { invalid } from "./errors.ts";
import { createReader } from "./expression-reader.ts";
import type { Reader } from "./expression-reader.ts";
import { nameOf, printed, remembered, valueAt } from "./expression.ts";
import type { Expression, Given, Path } from "./expression.ts";
import { normalNumber } from "./numbers.ts";

type Read = (item: Item, given: Given) => AttributeValue;

/** Without a value, what is at the path is removed. */
type Action = { path: Path; read?: Read };

export type Update = Expression & {
  /** What it writes to. */
  paths: readonly Path[];
  /** The item after it; a missing one is made first, with its key alone.
   * @throws DynamoDbError when the item does not have what the expression takes for granted */
  apply: (before: Item, given: Given) => Item;
};

const VERBS = ["SET", "REMOVE", "ADD"] as const;

export const updateOf = remembered((text): Update => {
  const reader = createReader("UpdateExpression", text);
  const actions = sections(reader);
  const paths = actions.map(({ path }) => path);
  checkOverlap(reader, paths);
  const deep = paths.some((path) => path.length > 1);
  return {
    ...reader.expression,
    paths,
    apply(before, given) {
      // Every operand is read before anything is written.
      const values = actions.map(({ read }) => read?.(before, given));
      const after = deep ? structuredClone(before) : { ...before };
      for (const [i, path] of paths.entries()) write(after, path, values[i], given);
      return after;
    },
  };
});

function sections(reader: Reader): Action[] {
  const actions: Action[] = [];
  const seen = new Set<string>();
  while (!reader.ended()) {
    const word = reader.peek().toUpperCase();
    const verb = VERBS.find((known) => known === word) ?? reader.fail();
    reader.next();
    if (seen.has(verb)) {
      throw reader.refused(`The "${verb}" section can only be used once in an update expression;`);
    }
    seen.add(verb);
    do actions.push(action(reader, verb));
    while (reader.take(","));
  }
  return actions;
}

function action(reader: Reader, verb: (typeof VERBS)[number]): Action {
  const path = reader.path();
  if (verb === "REMOVE") return { path };
  if (verb === "SET") {
    reader.expect("=");
    return { path, read: sum(reader) };
  }
  const placeholder = reader.value();
  reader.typed(placeholder, "operator: ADD", ["N"]);
  return {
    path,
    read: (item, given) =>
      added(
        valueAt(item, path, given) ?? { N: "0" },
        given.ExpressionAttributeValues?.[placeholder],
      ),
  };
}

/** What SET assigns: values, paths, sums and if_not_exists. */
function sum(reader: Reader): Read {
  const left = term(reader);
  const operator = reader.peek();
  if (operator !== "+" && operator !== "-") return left;
  reader.next();
  const right = term(reader);
  return (item, given) => {
    const [a, b] = [left(item, given), right(item, given)];
    return added(a, b, operator === "+" ? 1 : -1);
  };
}

function added(a: AttributeValue, b: AttributeValue | undefined, sign = 1): AttributeValue {
  if (a.N === undefined || b?.N === undefined) {
    throw invalid("An operand in the update expression has an incorrect data type");
  }
  return { N: normalNumber(String(Number(a.N) + sign * Number(b.N))) };
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
  if (name !== "if_not_exists") {
    throw reader.refused(`The local table does not know the function ${name}.`);
  }
  reader.expect("(");
  const path = reader.path();
  reader.expect(",");
  const fallback = sum(reader);
  reader.expect(")");
  return (item, given) => valueAt(item, path, given) ?? fallback(item, given);
}

function write(item: Item, path: Path, value: AttributeValue | undefined, given: Given): void {
  const parent = path.length === 1 ? item : valueAt(item, path.slice(0, -1), given)?.M;
  if (!parent) {
    throw invalid("The document path provided in the update expression is invalid for update");
  }
  const name = nameOf(path.at(-1) ?? "", given);
  if (value) parent[name] = value;
  else delete parent[name];
}

function checkOverlap(reader: Reader, paths: readonly Path[]): void {
  reader.checks.push((given) => {
    for (const [i, one] of paths.entries()) {
      const other = paths.slice(0, i).find((earlier) => overlap(earlier, one, given));
      if (!other) continue;
      throw reader.refused(
        `Two document paths overlap with each other; must remove or rewrite one of these paths; path one: ${printed(other, given)}, path two: ${printed(one, given)}`,
      );
    }
  });
}

/** Whether one of them leads to, or through, the other. */
function overlap(a: Path, b: Path, given: Given): boolean {
  const shorter = a.length < b.length ? a : b;
  return shorter.every((_part, i) => nameOf(a[i] ?? "", given) === nameOf(b[i] ?? "", given));
}
