// Projection expressions: which parts of an item are answered.
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Expressions.ProjectionExpressions.html

import type { AttributeValue, Item } from "./attribute-value.ts";
import { createReader } from "./expression-reader.ts";
import { nameOf, remembered, valueAt } from "./expression.ts";
import type { Expression, Given, Path } from "./expression.ts";

export type Projection = Expression & { paths: readonly Path[] };

export const projectionOf = remembered((text): Projection => {
  const reader = createReader("ProjectionExpression", text);
  const paths: Path[] = [];
  do paths.push(reader.path());
  while (reader.take(","));
  if (!reader.ended()) reader.fail();
  return { ...reader.expression, paths };
});

/** What of the item is at these paths; elements of lists move together. */
export function project(item: Item, paths: readonly Path[], given: Given): Item {
  const result: AttributeValue = { M: {} };
  for (const path of paths) {
    const value = valueAt(item, path, given);
    if (value) place(result, path, value, given);
  }
  return result.M as Item;
}

function place(into: AttributeValue, path: Path, value: AttributeValue, given: Given): void {
  const [segment, ...rest] = path;
  if (segment === undefined) return;
  const container = (): AttributeValue => (typeof rest[0] === "number" ? { L: [] } : { M: {} });
  if (typeof segment === "number") {
    const element = rest.length === 0 ? value : container();
    into.L?.push(element);
    place(element, rest, value, given);
    return;
  }
  const parent = into.M as Item;
  const name = nameOf(segment, given);
  const element = rest.length === 0 ? value : (parent[name] ??= container());
  parent[name] = element;
  place(element, rest, value, given);
}
