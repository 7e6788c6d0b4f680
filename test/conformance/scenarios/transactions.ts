// What the fulfillment of orders relies on in DynamoDB's transactions.

import { TransactionCanceledException } from "@aws-sdk/client-dynamodb";
import { PutCommand, TransactWriteCommand } from "@aws-sdk/lib-dynamodb";
import type { TransactWriteCommandInput } from "@aws-sdk/lib-dynamodb";
import { unmarshall } from "@aws-sdk/util-dynamodb";
import { expect } from "vitest";

import { documentedBy } from "../conform.ts";
import type { Scenario } from "../conform.ts";
import { item } from "./table.ts";
import type { TableSubject } from "./table.ts";

type Action = NonNullable<TransactWriteCommandInput["TransactItems"]>[number];

const TRANSACTIONS =
  "https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/transaction-apis.html";
const API =
  "https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_TransactWriteItems.html";

const put = (messageId: string, onHand: number) => ({ TableName: "", Item: { messageId, onHand } });

const record = (TableName: string, messageId: string, hash = "h"): Action => ({
  Put: {
    TableName,
    Item: { messageId, hash },
    ConditionExpression: "attribute_not_exists(messageId)",
    ReturnValuesOnConditionCheckFailure: "ALL_OLD",
  },
});

const take = (TableName: string, messageId: string, count: number): Action => ({
  Update: {
    TableName,
    Key: { messageId },
    UpdateExpression: "SET onHand = onHand - :n",
    ConditionExpression: "onHand >= :n",
    ExpressionAttributeValues: { ":n": count },
    ReturnValuesOnConditionCheckFailure: "ALL_OLD",
  },
});

/** "committed", the error's name, or the reasons of a canceled transaction, with the old items. */
async function outcome(
  { client }: TableSubject,
  TransactItems: Action[],
  ClientRequestToken?: string,
): Promise<unknown> {
  try {
    await client.send(new TransactWriteCommand({ TransactItems, ClientRequestToken }));
    return "committed";
  } catch (error) {
    if (!(error instanceof TransactionCanceledException)) return (error as Error).name;
    return error.CancellationReasons?.map(({ Code, Item }) =>
      Item ? [Code, unmarshall(Item)] : [Code],
    );
  }
}

async function stocked({ client, tableName }: TableSubject, id: string, onHand: number) {
  await client.send(new PutCommand({ ...put(id, onHand), TableName: tableName }));
}

export const transactionScenarios: readonly Scenario<TableSubject>[] = [
  ...documentedBy<TableSubject>(TRANSACTIONS, {
    async "a transaction writes all of its items"(table) {
      const { tableName } = table;
      await stocked(table, "tx-1-stock", 2);
      await stocked(table, "tx-1-old", 0);

      const end = await outcome(table, [
        record(tableName, "tx-1"),
        take(tableName, "tx-1-stock", 1),
        { Delete: { TableName: tableName, Key: { messageId: "tx-1-old" } } },
      ]);

      expect(end).toBe("committed");
      expect(await item(table, "tx-1")).toEqual({ messageId: "tx-1", hash: "h" });
      expect(await item(table, "tx-1-stock")).toMatchObject({ onHand: 1 });
      expect(await item(table, "tx-1-old")).toBeUndefined();
    },
  }),
  ...documentedBy<TableSubject>(API, {
    async "a condition that fails cancels the whole transaction, with a reason for each action"(
      table,
    ) {
      const { tableName } = table;
      await stocked(table, "tx-2-stock", 1);
      await outcome(table, [record(tableName, "tx-2")]);

      const end = await outcome(table, [
        record(tableName, "tx-2", "other"),
        record(tableName, "tx-2-new"),
        take(tableName, "tx-2-stock", 2),
      ]);

      expect(end).toEqual([
        ["ConditionalCheckFailed", { messageId: "tx-2", hash: "h" }],
        ["None"],
        ["ConditionalCheckFailed", { messageId: "tx-2-stock", onHand: 1 }],
      ]);
      expect(await item(table, "tx-2")).toMatchObject({ hash: "h" });
      expect(await item(table, "tx-2-new")).toBeUndefined();
      expect(await item(table, "tx-2-stock")).toMatchObject({ onHand: 1 });
    },

    async "a condition check that fails cancels the transaction and writes nothing itself"(table) {
      const { tableName: TableName } = table;
      const check = (messageId: string): Action => ({
        ConditionCheck: {
          TableName,
          Key: { messageId },
          ConditionExpression: "attribute_exists(messageId)",
        },
      });

      const end = await outcome(table, [record(TableName, "tx-3"), check("tx-3-absent")]);

      expect(end).toEqual([["None"], ["ConditionalCheckFailed"]]);
      expect(await item(table, "tx-3")).toBeUndefined();
      expect(await item(table, "tx-3-absent")).toBeUndefined();
    },
  }),
  ...documentedBy<TableSubject>(TRANSACTIONS, {
    async "of many transactions at once on one condition exactly one commits"(table) {
      const { tableName } = table;
      await stocked(table, "tx-4-stock", 5);

      const ends = await Promise.all(
        Array.from({ length: 20 }, (_, i) =>
          outcome(table, [record(tableName, "tx-4", `h${i}`), take(tableName, "tx-4-stock", 1)]),
        ),
      );

      expect(ends.filter((end) => end === "committed")).toHaveLength(1);
      expect(await item(table, "tx-4-stock")).toMatchObject({ onHand: 4 });
    },

    async "a repeat with the same token succeeds and writes nothing"(table) {
      const actions = [take(table.tableName, "tx-5-stock", 1)];
      await stocked(table, "tx-5-stock", 5);

      const ends = [
        await outcome(table, actions, "tx-5-token"),
        await outcome(table, actions, "tx-5-token"),
      ];

      expect(ends).toEqual(["committed", "committed"]);
      expect(await item(table, "tx-5-stock")).toMatchObject({ onHand: 4 });
    },
  }),
  ...documentedBy<TableSubject>(API, {
    async "the same token with other parameters is refused, and writes nothing"(table) {
      await stocked(table, "tx-6-stock", 5);
      const taking = (count: number) =>
        outcome(table, [take(table.tableName, "tx-6-stock", count)], "tx-6-token");

      expect([await taking(1), await taking(2)]).toEqual([
        "committed",
        "IdempotentParameterMismatchException",
      ]);
      expect(await item(table, "tx-6-stock")).toMatchObject({ onHand: 4 });
    },

    async "two actions on one item are invalid"(table) {
      const { tableName } = table;

      const end = await outcome(table, [record(tableName, "tx-7"), record(tableName, "tx-7")]);

      expect(end).toBe("ValidationException");
      expect(await item(table, "tx-7")).toBeUndefined();
    },
  }),
];
