// What the worker relies on in DynamoDB, as commands of the document client.

import { ConditionalCheckFailedException } from "@aws-sdk/client-dynamodb";
import { DeleteCommand, GetCommand, PutCommand, UpdateCommand } from "@aws-sdk/lib-dynamodb";
import type { DynamoDBDocumentClient } from "@aws-sdk/lib-dynamodb";
import { unmarshall } from "@aws-sdk/util-dynamodb";
import { expect } from "vitest";

import { documentedBy } from "../conform.ts";
import type { Scenario } from "../conform.ts";

export type TableSubject = {
  client: Pick<DynamoDBDocumentClient, "send">;
  /** Of a table with the key `messageId`. */
  tableName: string;
};

const PUT_ITEM = "https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_PutItem.html";
const UPDATE_ITEM =
  "https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_UpdateItem.html";
const CONDITIONS =
  "https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Expressions.ConditionExpressions.html";
const TYPES =
  "https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/HowItWorks.NamingRulesDataTypes.html";

type Item = { messageId: string } & Record<string, unknown>;

const put = (item: Item, options: { old?: boolean } = {}) =>
  new PutCommand({
    TableName: "",
    Item: item,
    ConditionExpression: "attribute_not_exists(messageId)",
    ...(options.old && { ReturnValuesOnConditionCheckFailure: "ALL_OLD" }),
  });

const takeOver = (messageId: string, seen: { owner: string; lease: number }, owner: string) =>
  new UpdateCommand({
    TableName: "",
    Key: { messageId },
    ConditionExpression: "#owner = :seenOwner AND lease = :seenLease",
    UpdateExpression: "SET #owner = :owner, lease = :lease REMOVE note",
    ExpressionAttributeNames: { "#owner": "owner" },
    ExpressionAttributeValues: {
      ":seenOwner": seen.owner,
      ":seenLease": seen.lease,
      ":owner": owner,
      ":lease": 2_000,
    },
    ReturnValuesOnConditionCheckFailure: "ALL_OLD",
  });

/** The old item that came with a failed condition; "written" when it did not fail. */
async function outcome(
  { client, tableName }: TableSubject,
  command: PutCommand | UpdateCommand | DeleteCommand,
): Promise<unknown> {
  command.input.TableName = tableName;
  try {
    await client.send(command as UpdateCommand);
    return "written";
  } catch (error) {
    if (!(error instanceof ConditionalCheckFailedException)) throw error;
    return error.Item === undefined ? "refused" : unmarshall(error.Item);
  }
}

/** The item as it is in the table. */
export async function item({ client, tableName: TableName }: TableSubject, messageId: string) {
  const command = new GetCommand({ TableName, Key: { messageId }, ConsistentRead: true });
  return (await client.send(command)).Item;
}

export const tableScenarios: readonly Scenario<TableSubject>[] = [
  ...documentedBy<TableSubject>(PUT_ITEM, {
    async "a conditional put on an item that is there answers with the whole of it and leaves it"(
      table,
    ) {
      const old = {
        messageId: "put-2",
        owner: "a",
        lease: 1_795_980_789_855,
        attempt: 1,
        outcome: { result: "declined", code: "card_declined", nested: { list: ["x", 1, true] } },
      };
      await outcome(table, put(old));

      const refused = await outcome(table, put({ messageId: "put-2", owner: "b" }, { old: true }));

      expect(refused).toEqual(old);
      expect(await item(table, "put-2")).toEqual(old);
    },

    async "a failed condition answers without the old item when that was not asked for"(table) {
      await outcome(table, put({ messageId: "put-3", owner: "a" }));

      expect(await outcome(table, put({ messageId: "put-3", owner: "b" }))).toBe("refused");
    },
  }),
  ...documentedBy<TableSubject>(CONDITIONS, {
    async "of many conditional puts at once exactly one is written, and all others see its item"(
      table,
    ) {
      const owners = Array.from({ length: 20 }, (_, i) => `owner-${i}`);

      const ends = await Promise.all(
        owners.map((owner) => outcome(table, put({ messageId: "put-4", owner }, { old: true }))),
      );

      const winner = await item(table, "put-4");
      expect(ends.filter((end) => end === "written")).toHaveLength(1);
      expect(ends.filter((end) => end !== "written")).toEqual(Array(19).fill(winner));
    },
  }),
  ...documentedBy<TableSubject>(UPDATE_ITEM, {
    async "a conditional update that meets another item answers with it and changes nothing"(
      table,
    ) {
      const claimed = { messageId: "update-2", owner: "a", lease: 1_000 };
      await outcome(table, put(claimed));

      const otherOwner = takeOver("update-2", { owner: "c", lease: 1_000 }, "b");
      const otherLease = takeOver("update-2", { owner: "a", lease: 1_001 }, "b");

      expect(await outcome(table, otherOwner)).toEqual(claimed);
      expect(await outcome(table, otherLease)).toEqual(claimed);
      expect(await item(table, "update-2")).toEqual(claimed);
    },

    async "a conditional update of an item that is not there is refused, has no old item and makes none"(
      table,
    ) {
      const end = await outcome(table, takeOver("update-3", { owner: "a", lease: 1_000 }, "b"));

      expect(end).toBe("refused");
      expect(await item(table, "update-3")).toBeUndefined();
    },
  }),
  ...documentedBy<TableSubject>(TYPES, {
    async "a condition compares numbers exactly, and a number is not its digits as a text"(table) {
      const lease = 1_795_980_789_855;
      await outcome(table, put({ messageId: "number-1", owner: "a", lease }));
      await outcome(table, put({ messageId: "number-2", owner: "a", lease: String(lease) }));

      const near = takeOver("number-1", { owner: "a", lease: lease + 1 }, "b");
      const asText = takeOver("number-2", { owner: "a", lease }, "b");
      const exact = takeOver("number-1", { owner: "a", lease }, "b");

      expect(await outcome(table, near)).toMatchObject({ owner: "a" });
      expect(await outcome(table, asText)).toMatchObject({ owner: "a" });
      expect(await outcome(table, exact)).toBe("written");
    },

    async "keys differ by case and by every printable character, and may be 255 long"(table) {
      const printable = Array.from({ length: 94 }, (_, i) => `key-${String.fromCharCode(33 + i)}`);
      const ids = [...printable, "k".repeat(255), `${"k".repeat(254)}l`];

      const ends = await Promise.all(
        ids.map((messageId) => outcome(table, put({ messageId, owner: messageId }))),
      );

      expect(ends).toEqual(Array(96).fill("written"));
      expect(await item(table, "key-~")).toEqual({ messageId: "key-~", owner: "key-~" });
      expect(await item(table, "key-A")).toEqual({ messageId: "key-A", owner: "key-A" });
    },
  }),
  ...documentedBy<TableSubject>(
    "https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/ttl-expired-items.html",
    {
      async "an item whose TTL has passed counts for as long as it is there"(table) {
        const expired = { messageId: "ttl-1", owner: "a", expiresAt: 1_700_000_000 };
        await outcome(table, put(expired));

        expect(
          await outcome(table, put({ messageId: "ttl-1", owner: "b" }, { old: true })),
        ).toEqual(expired);
      },
    },
  ),
  ...documentedBy<TableSubject>(CONDITIONS, {
    async "an item that was deleted is not there for a condition"(table) {
      await outcome(table, put({ messageId: "delete-1", owner: "a" }));
      const remove = new DeleteCommand({ TableName: "", Key: { messageId: "delete-1" } });

      expect(await outcome(table, remove)).toBe("written");
      expect(await outcome(table, put({ messageId: "delete-1", owner: "b" }))).toBe("written");
    },
  }),
];
