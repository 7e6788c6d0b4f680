// What all compiled expressions share: placeholders, paths into an item, and being read once.
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Expressions.html

import type { AttributeValue, Item } from "./attribute-value.ts";
import { invalid } from "./errors.ts";

/** What `#names` and `:values` stand for, in the request that the expression came with. */
export type Given = {
  ExpressionAttributeNames?: Record<string, string> | undefined;
  ExpressionAttributeValues?: Item | undefined;
};

/** Names and `#placeholders`, as written. */
export type Path = readonly string[];

/** What every compiled expression has. */
export type Expression = {
  names: ReadonlySet<string>;
  values: ReadonlySet<string>;
  /** @throws DynamoDbError when a placeholder stands for nothing, or for a value of a wrong type */
  check: (given: Given) => void;
};

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
  [first = "", ...rest]: Path,
  given: Given,
): AttributeValue | undefined {
  let value = item?.[nameOf(first, given)];
  for (const segment of rest) value = value?.M?.[nameOf(segment, given)];
  return value;
}

/** The path as DynamoDB writes it in its errors. */
export function printed(path: Path, given: Given): string {
  return `[${path.map((part) => nameOf(part, given)).join(", ")}]`;
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
