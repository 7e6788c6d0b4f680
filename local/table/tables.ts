// CreateTable and its like, and time to live: the two calls, and the deleter that AWS runs.

import type { Type } from "./attribute-value.ts";
import { DynamoDbError, invalid, invalidParameters, noSuchTable } from "./errors.ts";
import type { Input } from "./requests.ts";
import type { Store, Table } from "./store.ts";

/** DynamoDB leaves an item alone whose time is further back than this, seconds.
 * https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/time-to-live-ttl-before-you-start.html */
const OLDEST_SECONDS = 5 * 365 * 24 * 3600;

export function createTable(store: Store, input: Input): object {
  const { TableName, KeySchema, AttributeDefinitions } = input as {
    TableName: string;
    KeySchema: { AttributeName: string }[];
    AttributeDefinitions: { AttributeName: string; AttributeType: Type }[];
  };
  if (store.find(TableName)) {
    throw new DynamoDbError("ResourceInUseException", `Table already exists: ${TableName}`);
  }
  const key = KeySchema.map(({ AttributeName: name }) => {
    const defined = AttributeDefinitions.find(({ AttributeName }) => AttributeName === name);
    if (defined) return { name, type: defined.AttributeType };
    throw invalidParameters("Some index key attributes are not defined in AttributeDefinitions.");
  });
  return { TableDescription: described(store.create(TableName, key)) };
}

export function describeTable(store: Store, { TableName }: Input): object {
  return { Table: described(existing(store, TableName)) };
}

export function deleteTable(store: Store, { TableName }: Input): object {
  const table = existing(store, TableName);
  store.remove(table.name);
  return { TableDescription: { ...described(table), TableStatus: "DELETING" } };
}

export function listTables(store: Store): object {
  return { TableNames: store.names() };
}

export function describeTimeToLive(store: Store, { TableName }: Input): object {
  const { ttlAttribute } = existing(store, TableName);
  return {
    TimeToLiveDescription: ttlAttribute
      ? { TimeToLiveStatus: "ENABLED", AttributeName: ttlAttribute }
      : { TimeToLiveStatus: "DISABLED" },
  };
}

/** AWS takes up to an hour to switch and rejects another change meanwhile; here it is at once. */
export function updateTimeToLive(store: Store, input: Input): object {
  const table = existing(store, input["TableName"]);
  const wanted = input["TimeToLiveSpecification"] as
    | { AttributeName?: string; Enabled?: boolean }
    | undefined;
  if (!wanted?.AttributeName || wanted.Enabled === undefined) {
    throw invalid("TimeToLiveSpecification must have AttributeName and Enabled");
  }
  const current = table.ttlAttribute;
  if (current === undefined && !wanted.Enabled) throw invalid("TimeToLive is already disabled");
  if (current !== undefined && current !== wanted.AttributeName) {
    throw invalid(
      `TimeToLive is active on a different AttributeName: current AttributeName is ${current}`,
    );
  }
  if (current !== undefined && wanted.Enabled) throw invalid("TimeToLive is already enabled");
  if (wanted.Enabled) table.ttlAttribute = wanted.AttributeName;
  else delete table.ttlAttribute;
  return { TimeToLiveSpecification: wanted };
}

/** Deletes what DynamoDB would delete at that time, in every table that has a TTL attribute. */
export function deleteExpired(store: Store, nowSeconds: number): number {
  let deleted = 0;
  for (const { ttlAttribute, items, write } of store.names().map(store.table)) {
    if (ttlAttribute === undefined) continue;
    for (const [id, item] of items) {
      const expiry = Number(item[ttlAttribute]?.N);
      if (!(expiry < nowSeconds && expiry >= nowSeconds - OLDEST_SECONDS)) continue;
      write(id, item, undefined, "ttl");
      deleted += 1;
    }
  }
  return deleted;
}

function existing(store: Store, name: unknown): Table {
  const table = store.find(name);
  if (!table) throw noSuchTable(`Requested resource not found: Table: ${String(name)} not found`);
  return table;
}

function described({ name, createdAtMs, key, items }: Table): object {
  return {
    TableName: name,
    TableStatus: "ACTIVE",
    CreationDateTime: createdAtMs / 1000,
    TableArn: `arn:aws:dynamodb:us-east-1:000000000000:table/${name}`,
    AttributeDefinitions: key.map(({ name, type }) => ({
      AttributeName: name,
      AttributeType: type,
    })),
    KeySchema: key.map(({ name }, i) => ({
      AttributeName: name,
      KeyType: i === 0 ? "HASH" : "RANGE",
    })),
    BillingModeSummary: { BillingMode: "PAY_PER_REQUEST" },
    ItemCount: items.size,
  };
}
