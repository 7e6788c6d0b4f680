// DynamoDB on a laptop: the operations of `operations.ts` behind AWS's JSON protocol, in memory.

import { startAwsJsonServer } from "../aws-json-server.ts";
import type { AwsJsonServer, Seen } from "../aws-json-server.ts";
import { errorReply, okReply } from "../aws-json.ts";
import type { Reply } from "../http-exchange.ts";
import type { Listening } from "../http-server.ts";
import { plainItem, typedItem } from "./attribute-value.ts";
import type { Item } from "./attribute-value.ts";
import type { ChangeLog } from "./change-log.ts";
import { DynamoDbError } from "./errors.ts";
import { createOperations } from "./operations.ts";
import { createStore, idOf } from "./store.ts";
import { deleteExpired } from "./tables.ts";

/** Another transaction is at the item with this partition key, or at every item of the request: a single
 * write and a transaction fail, a read does not. */
export type Conflict = { kind: "conflict"; key?: string };

/**
 * What the log and the faults need to know of a request: which table, which record when it names one,
 * and an update's expression, which distinguishes one kind of update from another.
 */
export type TableRequest = { table?: string; messageId?: string; update?: string };

export type TableServer = AwsJsonServer<TableRequest, Conflict> & {
  /** A table with that partition key, of strings, and with that TTL attribute, ready to use. */
  createTable: (name: string, partitionKey: string, ttlAttribute: string) => void;
  /** A table with the key `messageId` and the TTL attribute `expiresAt`, ready to use. */
  createRecordsTable: (name: string) => Promise<void>;
  /** One item as plain values, `undefined` when there is none. Not logged, and no fault touches it. */
  item: (table: string, id: string) => Promise<Record<string, unknown> | undefined>;
  /** Every item as plain values. Not logged, and no fault touches it. */
  items: (table: string) => Promise<Record<string, unknown>[]>;
  /** Puts an item of plain values. Not logged, and no fault touches it. */
  put: (table: string, item: Record<string, unknown>) => void;
  /** The table's stream. */
  changes: (table: string) => ChangeLog;
  /** What DynamoDB's TTL deleter does some day. Resolves with how many it deleted. */
  deleteExpired: (nowSeconds?: number) => Promise<number>;
};

/**
 * @param options.now the clock of the log, of the stream and of the TTL deleter, ms
 * @throws when the port is taken
 */
export async function startTable(
  options: Listening & {
    now?: () => number;
    onEnd?: (seen: Seen<TableRequest>) => void;
  } = {},
): Promise<TableServer> {
  const now = options.now ?? Date.now;
  const store = createStore(now);
  const operate = createOperations(store);

  const server = await startAwsJsonServer<TableRequest, Conflict>({
    ...options,
    about:
      "DynamoDB on this machine. List a table: aws dynamodb scan --endpoint-url URL --table-name payment-records",
    now,
    describe,
    answer({ operation, input }, _seen, injected) {
      const conflicts = (id: string) => injected.some(({ key }) => key === undefined || key === id);
      return answerOf(() => operate(operation, input, conflicts));
    },
  });

  return {
    ...server,
    createTable: store.create,
    createRecordsTable: async (name) => store.create(name, "messageId", "expiresAt"),
    async item(table, id) {
      const item = store.table(table).items.get(id);
      return item && plainItem(item);
    },
    items: async (table) => [...store.table(table).items.values()].map(plainItem),
    put(name, plain) {
      const table = store.table(name);
      const item = typedItem(plain);
      const id = idOf(item, table);
      table.write(id, table.items.get(id), item);
    },
    changes: (table) => store.table(table).changes,
    deleteExpired: async (nowSeconds = Math.floor(now() / 1000)) =>
      deleteExpired(store, nowSeconds),
  };
}

/** Runs an operation and writes its output, or its error, as DynamoDB does. */
export function answerOf(run: () => object): Reply {
  try {
    return okReply(run());
  } catch (error) {
    if (!(error instanceof DynamoDbError)) throw error;
    const { code, message, body } = error;
    return errorReply(
      400,
      `${NAMESPACES[code] ?? "com.amazonaws.dynamodb.v20120810"}#${code}`,
      message,
      body,
    );
  }
}

const NAMESPACES: Readonly<Record<string, string>> = {
  UnknownOperationException: "com.amazon.coral.service",
  ValidationException: "com.amazon.coral.validate",
};

function describe(_operation: string, input: Record<string, unknown>): TableRequest {
  const { TableName, Item, Key, UpdateExpression } = input as {
    TableName?: string;
    Item?: Item;
    Key?: Item;
    UpdateExpression?: string;
  };
  const messageId = (Item ?? Key)?.["messageId"]?.S;
  return {
    ...(typeof TableName === "string" && { table: TableName }),
    ...(typeof messageId === "string" && { messageId }),
    ...(typeof UpdateExpression === "string" && { update: UpdateExpression }),
  };
}
