// What there is to ask of tables, and the deleter that AWS runs for time to live.

import { noSuchTable } from "./errors.ts";
import type { Input } from "./requests.ts";
import type { Store } from "./store.ts";

/** DynamoDB leaves an item alone whose time is further back than this, seconds.
 * https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/time-to-live-ttl-before-you-start.html */
const OLDEST_SECONDS = 5 * 365 * 24 * 3600;

export function describeTable(store: Store, { TableName }: Input): object {
  const table = store.find(TableName);
  if (!table) {
    throw noSuchTable(`Requested resource not found: Table: ${String(TableName)} not found`);
  }
  const { name, createdAtMs, partitionKey, items } = table;
  return {
    Table: {
      TableName: name,
      TableStatus: "ACTIVE",
      CreationDateTime: createdAtMs / 1000,
      TableArn: `arn:aws:dynamodb:us-east-1:000000000000:table/${name}`,
      AttributeDefinitions: [{ AttributeName: partitionKey, AttributeType: "S" }],
      KeySchema: [{ AttributeName: partitionKey, KeyType: "HASH" }],
      BillingModeSummary: { BillingMode: "PAY_PER_REQUEST" },
      ItemCount: items.size,
    },
  };
}

export function listTables(store: Store): object {
  return { TableNames: store.names() };
}

/** Deletes what DynamoDB would delete at that time, in every table that has a TTL attribute. */
export function deleteExpired(store: Store, nowSeconds: number): number {
  let deleted = 0;
  for (const { ttlAttribute, items, write } of store.names().map(store.table)) {
    for (const [id, item] of items) {
      const expiry = Number(item[ttlAttribute]?.N);
      if (!(expiry < nowSeconds && expiry >= nowSeconds - OLDEST_SECONDS)) continue;
      write(id, item, undefined, "ttl");
      deleted += 1;
    }
  }
  return deleted;
}
