// Projection expressions: which parts of an item are answered.
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Expressions.ProjectionExpressions.html

import type { Item } from "./attribute-value.ts";
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

/** What of the item is at these paths. */
export function project(item: Item, paths: readonly Path[], given: Given): Item {
  const result: Item = {};
  for (const path of paths) {
    const value = valueAt(item, path, given);
    if (!value) continue;
    const names = path.map((segment) => nameOf(segment, given));
    const last = names.pop() ?? "";
    let parent = result;
    for (const name of names) parent = (parent[name] ??= { M: {} }).M ?? {};
    parent[last] = value;
  }
  return result;
}
