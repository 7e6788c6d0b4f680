// The tables and their items, in memory. Every operation runs to its end before the next: whatever one
// sees and writes is atomic.

import { typeOf } from "./attribute-value.ts";
import type { Item } from "./attribute-value.ts";
import { createChangeLog } from "./change-log.ts";
import type { ChangeLog, RecordChange } from "./change-log.ts";
import { invalid, invalidParameters, noSuchTable } from "./errors.ts";

export type Table = {
  name: string;
  createdAtMs: number;
  /** The name of its key, which is a string; none has a sort key. */
  partitionKey: string;
  ttlAttribute: string;
  items: ReadonlyMap<string, Item>;
  changes: ChangeLog;
  /** Writes what an operation came to; `undefined` deletes. */
  write: (id: string, before: Item | undefined, after: Item | undefined, by?: "ttl") => void;
  /** Every id in the order of its hash, which a scan goes by. */
  order: () => readonly { id: string; hash: number }[];
};

/** As much of a table as a write needs. */
export type Writable = Pick<Table, "name" | "partitionKey" | "write"> & {
  items: Pick<Table["items"], "get">;
};

export type Store = {
  now: () => number;
  names: () => string[];
  find: (name: unknown) => Table | undefined;
  /** @throws DynamoDbError when there is no such table */
  table: (name: unknown) => Table;
  create: (name: string, partitionKey: string, ttlAttribute: string) => void;
};

export function createStore(now: () => number): Store {
  const tables = new Map<string, Table>();
  const find = (name: unknown) => tables.get(String(name));
  return {
    now,
    names: () => [...tables.keys()].toSorted(),
    find,
    table(name) {
      const table = find(name);
      if (!table) throw noSuchTable();
      return table;
    },
    create: (name, ...attributes) => void tables.set(name, createTable(now, name, ...attributes)),
  };
}

function createTable(
  now: () => number,
  name: string,
  partitionKey: string,
  ttlAttribute: string,
): Table {
  const items = new Map<string, Item>();
  const { log, record } = createChangeLog(now);
  let order: { id: string; hash: number }[] | undefined;

  function write(...[id, before, after, by]: Parameters<Table["write"]>): void {
    const any = after ?? before;
    if (!any) return;
    if (!before || !after) order = undefined;
    if (after) items.set(id, after);
    else items.delete(id);
    const change: Parameters<RecordChange>[0] = {
      keys: keyIn(any, { partitionKey }),
      before,
      after,
    };
    record(by === "ttl" ? { ...change, byTimeToLive: true } : change);
  }

  return {
    name,
    createdAtMs: now(),
    partitionKey,
    ttlAttribute,
    items,
    changes: log,
    write,
    order: () =>
      (order ??= [...items.keys()]
        .map((id) => ({ id, hash: hashOf(id) }))
        .toSorted((a, b) => a.hash - b.hash || (a.id < b.id ? -1 : 1))),
  };
}

/** The key of an item, as an item of its own. */
export function keyIn(item: Item, { partitionKey }: Pick<Table, "partitionKey">): Item {
  return { [partitionKey]: item[partitionKey] ?? {} };
}

/** What an item is stored under. @throws DynamoDbError when it lacks the key or has it otherwise */
export function idOf(item: Item, { partitionKey }: Pick<Table, "partitionKey">): string {
  const value = item[partitionKey];
  if (!value) throw invalidParameters(`Missing the key ${partitionKey} in the item`);
  const { S: id } = value;
  if (id === undefined) {
    throw invalidParameters(
      `Type mismatch for key ${partitionKey} expected: S actual: ${typeOf(value)}`,
    );
  }
  if (id === "") {
    throw invalid(
      `One or more parameter values are not valid. The AttributeValue for a key attribute cannot contain an empty string value. Key: ${partitionKey}`,
    );
  }
  return id;
}

/** As `idOf`, for a request's `Key`, which must be the key and nothing else. */
export function idOfKey(key: Item | undefined, table: Pick<Table, "partitionKey">): string {
  if (key?.[table.partitionKey]?.S === undefined || Object.keys(key).length !== 1) {
    throw invalid("The provided key element does not match the schema");
  }
  return idOf(key, table);
}

/** 32 bits of the id, the same in every run: FNV-1a, then MurmurHash3's last mix, as FNV alone leaves the
 * high bits of short ids alike. */
export function hashOf(id: string): number {
  let hash = 0x81_1c_9d_c5;
  for (let i = 0; i < id.length; i += 1) {
    hash = Math.imul(hash ^ id.charCodeAt(i), 0x01_00_01_93);
  }
  hash = Math.imul(hash ^ (hash >>> 16), 0x85_eb_ca_6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2_b2_ae_35);
  return (hash ^ (hash >>> 16)) >>> 0;
}
