// PutItem, UpdateItem and DeleteItem.

import type { Item } from "./attribute-value.ts";
import { DynamoDbError, invalid } from "./errors.ts";
import type { Path } from "./expression.ts";
import { checkSize } from "./item.ts";
import { project } from "./projection.ts";
import { hasEnum, readWrite } from "./requests.ts";
import type { Input } from "./requests.ts";
import { idOf, idOfKey } from "./store.ts";
import type { Writable } from "./store.ts";
import { updateOf } from "./update.ts";
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
  const keyNames = table.key.map(({ name }) => name);
  const write = writeOf(kind, input, keyNames);
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
  const allowed = kind === "Update" ? UPDATE_RETURNS : ["ALL_OLD", "NONE"];
  hasEnum(given, "ReturnValues", allowed);
  const { table, id, input, step } = targetOf(store, kind, given);
  if (conflicts(id)) {
    throw new DynamoDbError("TransactionConflictException", "Transaction is ongoing for the item");
  }
  const before = table.items.get(id);
  const after = step(before);
  table.write(id, before, after);
  const paths = input.UpdateExpression === undefined ? [] : updateOf(input.UpdateExpression).paths;
  const Attributes = returned(String(given["ReturnValues"]), before, after, paths, input);
  return Attributes && Object.keys(Attributes).length > 0 ? { Attributes } : {};
}

const UPDATE_RETURNS = ["ALL_NEW", "UPDATED_OLD", "ALL_OLD", "NONE", "UPDATED_NEW"];

function returned(
  which: string,
  before: Item | undefined,
  after: Item | undefined,
  paths: readonly Path[],
  input: WriteInput,
): Item | undefined {
  if (which === "ALL_OLD") return before;
  if (which === "ALL_NEW") return after;
  if (which === "UPDATED_OLD") return before && project(before, paths, input);
  if (which === "UPDATED_NEW") return after && project(after, paths, input);
  return undefined;
}
