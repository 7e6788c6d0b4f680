/** DynamoDB on a laptop: dynalite, with what the worker needs and dynalite lacks. */
import { startAwsJsonServer } from "../aws-json-server.ts";
import type { AwsJsonServer } from "../aws-json-server.ts";
import type { Call, Reply } from "../aws-json.ts";
import { createDynalite } from "./dynalite.ts";
import { plainItem } from "./plain-item.ts";
import type { Item } from "./plain-item.ts";
import { createTimeToLive } from "./time-to-live.ts";

/**
 * What the log and the faults need to know of a request: which table, which record when it names one,
 * and an update's expression, which tells one kind of update from another.
 */
export type TableRequest = { table?: string; messageId?: string; update?: string };

export type TableServer = AwsJsonServer<TableRequest> & {
  /** A table with the key `messageId` and the TTL attribute `expiresAt`, ready to use. */
  createRecordsTable: (name: string) => Promise<void>;
  /** One item as plain values, `undefined` when there is none. Not logged, and no fault touches it. */
  item: (table: string, messageId: string) => Promise<Record<string, unknown> | undefined>;
  /** Every item as plain values. Not logged, and no fault touches it. */
  items: (table: string) => Promise<Record<string, unknown>[]>;
  /** What DynamoDB's TTL deleter does some day: see `time-to-live.ts`. Resolves with how many it deleted. */
  deleteExpired: (nowSeconds?: number) => Promise<number>;
};

/**
 * @param options.port 0 or absent for any free one
 * @param options.now the clock of the log and of the TTL deleter, ms
 * @throws when the port is taken
 */
export async function startTable(
  options: { port?: number; now?: () => number } = {},
): Promise<TableServer> {
  const now = options.now ?? Date.now;
  const dynalite = createDynalite();
  const timeToLive = createTimeToLive(dynalite);

  // The operations that dynalite lacks, each from the file it is written in.
  const added: Record<string, (input: Record<string, unknown>) => Promise<Reply>> = {
    DescribeTimeToLive: timeToLive.describe,
    UpdateTimeToLive: timeToLive.update,
  };

  async function answer({ operation, input, headers, body }: Call): Promise<Reply> {
    return added[operation]?.(input) ?? dynalite.handle(headers, body);
  }

  const server = await startAwsJsonServer<TableRequest>({
    port: options.port ?? 0,
    now,
    describe,
    answer,
  });

  return {
    ...server,
    async createRecordsTable(name) {
      await dynalite.call("CreateTable", {
        TableName: name,
        BillingMode: "PAY_PER_REQUEST",
        AttributeDefinitions: [{ AttributeName: "messageId", AttributeType: "S" }],
        KeySchema: [{ AttributeName: "messageId", KeyType: "HASH" }],
      });
      for (;;) {
        const { Table } = await dynalite.call<{ Table: { TableStatus: string } }>("DescribeTable", {
          TableName: name,
        });
        if (Table.TableStatus === "ACTIVE") break;
        await new Promise((resolve) => setImmediate(resolve));
      }
      await timeToLive.update({
        TableName: name,
        TimeToLiveSpecification: { AttributeName: "expiresAt", Enabled: true },
      });
    },
    async item(table, messageId) {
      const { Item } = await dynalite.call<{ Item?: Item }>("GetItem", {
        TableName: table,
        Key: { messageId: { S: messageId } },
        ConsistentRead: true,
      });
      return Item && plainItem(Item);
    },
    async items(table) {
      return (await dynalite.scanAll(table)).map(plainItem);
    },
    deleteExpired: (nowSeconds = Math.floor(now() / 1000)) => timeToLive.deleteExpired(nowSeconds),
  };
}

function describe(_operation: string, input: Record<string, unknown>): TableRequest {
  const { TableName, Item, Key, UpdateExpression } = input as {
    TableName?: string;
    Item?: Item;
    Key?: Item;
    UpdateExpression?: string;
  };
  const messageId = (Item ?? Key)?.["messageId"]?.["S"];
  return {
    ...(typeof TableName === "string" && { table: TableName }),
    ...(typeof messageId === "string" && { messageId }),
    ...(typeof UpdateExpression === "string" && { update: UpdateExpression }),
  };
}
