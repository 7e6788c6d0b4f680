// GetItem, BatchGetItem and Scan.

import type { Item } from "./attribute-value.ts";
import { filterOf } from "./condition.ts";
import { invalid } from "./errors.ts";
import { checkUnused } from "./expression.ts";
import { itemBytes } from "./item.ts";
import { project, projectionOf } from "./projection.ts";
import { onlyKnows, readGiven } from "./requests.ts";
import type { Input } from "./requests.ts";
import { hashOf, idOfKey, keyIn } from "./store.ts";
import type { Store, Table } from "./store.ts";

const MOST_KEYS = 100;
/** https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_Scan.html */
const PAGE_BYTES = 1024 * 1024;

export function getItem(store: Store, input: Input): object {
  const table = store.table(input["TableName"]);
  const item = table.items.get(idOfKey(input["Key"] as Item, table));
  const { view } = readingOf(input);
  return item ? { Item: view(item) } : {};
}

export function batchGetItem(store: Store, input: Input): object {
  const requests = Object.entries(input["RequestItems"] as Record<string, Input>);
  const count = requests.flatMap(([, { Keys }]) => Keys as Item[]).length;
  if (count === 0 || count > MOST_KEYS) {
    throw invalid("Too many items requested for the BatchGetItem call");
  }
  const found = requests.map(([name, request]) => {
    onlyKnows("BatchGetItem", request, BATCH_FIELDS);
    const table = store.table(name);
    const { view } = readingOf(request);
    const ids = (request["Keys"] as Item[]).map((key) => idOfKey(key, table));
    if (new Set(ids).size < ids.length) {
      throw invalid("Provided list of item keys contains duplicates");
    }
    const items = ids.map((id) => table.items.get(id)).filter((item) => item !== undefined);
    return [name, items.map(view)];
  });
  return { Responses: Object.fromEntries(found), UnprocessedKeys: {} };
}

const BATCH_FIELDS = ["Keys", "ConsistentRead", "ProjectionExpression", "ExpressionAttributeNames"];

export function scan(store: Store, input: Input): object {
  const table = store.table(input["TableName"]);
  const { passes, view } = readingOf(input);
  const Items: Item[] = [];
  let bytes = 0;
  let scanned = 0;
  let last: Item | undefined;
  let more = false;
  for (const item of itemsFrom(table, input)) {
    bytes += itemBytes(item);
    if (scanned > 0 && bytes > PAGE_BYTES) {
      more = true;
      break;
    }
    scanned += 1;
    last = item;
    if (passes(item)) Items.push(view(item));
    if (scanned === input["Limit"]) {
      more = true;
      break;
    }
  }
  return {
    Items,
    Count: Items.length,
    ScannedCount: scanned,
    ...(more && last && { LastEvaluatedKey: keyIn(last, table) }),
  };
}

/** The items of a segment in the order of their hashes, after the key that the last page ended with. */
function* itemsFrom(table: Table, input: Input): Generator<Item> {
  const { Segment: segment = 0, TotalSegments: segments = 1 } = input as Record<string, number>;
  const start = input["ExclusiveStartKey"] as Item | undefined;
  const after = start && idOfKey(start, table);
  const afterHash = after === undefined ? -1 : hashOf(after);
  const order = table.order();
  for (let i = firstFrom(order, afterHash); i < order.length; i += 1) {
    const { id, hash } = order[i] as { id: string; hash: number };
    if (hash === afterHash && after !== undefined && id <= after) continue;
    if (Math.floor((hash / 2 ** 32) * segments) !== segment) continue;
    const item = table.items.get(id);
    if (item) yield item;
  }
}

function firstFrom(order: readonly { hash: number }[], hash: number): number {
  let [low, high] = [0, order.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((order[middle]?.hash ?? 0) < hash) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** What a read filters and what it shows. */
function readingOf(input: Input) {
  const given = readGiven(input);
  const { FilterExpression, ProjectionExpression } = input as Record<string, string>;
  const filter = FilterExpression === undefined ? undefined : filterOf(FilterExpression);
  const projection =
    ProjectionExpression === undefined ? undefined : projectionOf(ProjectionExpression);
  filter?.check(given);
  projection?.check(given);
  checkUnused(given, [filter, projection]);
  return {
    passes: (item: Item) => filter?.holds(item, given) ?? true,
    view: (item: Item) => (projection ? project(item, projection.paths, given) : item),
  };
}
