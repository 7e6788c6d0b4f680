// PutItem, UpdateItem and DeleteItem.

import type { Item } from "./attribute-value.ts";
import { DynamoDbError, invalid } from "./errors.ts";
import { checkSize } from "./item.ts";
import { readWrite } from "./requests.ts";
import type { Input } from "./requests.ts";
import { idOf, idOfKey } from "./store.ts";
import type { Writable } from "./store.ts";
import { checkPlaceholders, writeOf } from "./write.ts";
import type { WriteInput, WriteKind } from "./write.ts";

/** Where a write finds its table. @throws DynamoDbError when there is none */
export type Tables = { table: (name: unknown) => Writable };

/** A write that was read, and the item that it is about. */
export type Target = {
  table: Writable;
  id: string;
  input: WriteInput;
  /** What the item is after it. @throws DynamoDbError */
  step: (before: Item | undefined) => Item | undefined;
};

/** @throws DynamoDbError when the request is wrong whatever the item is */
export function targetOf(store: Tables, kind: WriteKind, given: Input): Target {
  const input = readWrite(given);
  const table = store.table(given["TableName"]);
  if (kind === "Put" && !input.Item)
    throw invalid("The parameter 'Item' is required but was not present in the request");
  const id = input.Item ? idOf(input.Item, table) : idOfKey(input.Key, table);
  const write = writeOf(kind, input, table.partitionKey);
  checkPlaceholders(input);
  return {
    table,
    id,
    input,
    step(before) {
      const after = write(before);
      if (after) checkSize(after, kind === "Update" ? " to update" : "");
      return after;
    },
  };
}

/** @param kind which of the three */
export function writeOne(
  store: Tables,
  kind: "Put" | "Update" | "Delete",
  given: Input,
  conflicts: (id: string) => boolean,
): object {
  const { table, id, step } = targetOf(store, kind, given);
  if (conflicts(id)) {
    throw new DynamoDbError("TransactionConflictException", "Transaction is ongoing for the item");
  }
  const before = table.items.get(id);
  table.write(id, before, step(before));
  return {};
}
