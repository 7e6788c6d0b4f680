// What the outcome publisher relies on in a table's stream.

import {
  DeleteCommand,
  PutCommand,
  TransactWriteCommand,
  UpdateCommand,
} from "@aws-sdk/lib-dynamodb";
import { expect } from "vitest";

import { documentedBy } from "../conform.ts";
import type { TableSubject } from "./table.ts";

/** A stream's record, as far as it is compared. */
export type StreamRecord = {
  eventName: string;
  dynamodb: { Keys: object; OldImage?: object; NewImage?: object; SequenceNumber: string };
};

export type StreamSubject = TableSubject & {
  /** Every record of the table's stream so far, oldest first. */
  records: () => Promise<readonly StreamRecord[]>;
};

const STREAMS = "https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Streams.html";

const image = (messageId: string, attempt: number) => ({
  messageId: { S: messageId },
  attempt: { N: String(attempt) },
});

/** The names and images of the records of these ids, and whether their numbers grow. */
async function recordsOf({ records }: StreamSubject, ...ids: string[]): Promise<unknown> {
  const all = await records();
  const own = all.filter(({ dynamodb: { Keys } }) =>
    ids.some((id) => JSON.stringify(Keys) === JSON.stringify({ messageId: { S: id } })),
  );
  const numbers = own.map(({ dynamodb }) => BigInt(dynamodb.SequenceNumber));
  expect(numbers).toEqual(numbers.toSorted((a, b) => (a < b ? -1 : 1)));
  return own.map(({ eventName, dynamodb: { OldImage, NewImage } }) => [
    eventName,
    OldImage,
    NewImage,
  ]);
}

export const changeScenarios = documentedBy<StreamSubject>(STREAMS, {
  async "each change makes one record, in order, with the images of before and after"(table) {
    const { client, tableName: TableName } = table;
    const Key = { messageId: "change-1" };
    await client.send(new PutCommand({ TableName, Item: { ...Key, attempt: 1 } }));
    await client.send(
      new UpdateCommand({
        TableName,
        Key,
        UpdateExpression: "SET attempt = :two",
        ExpressionAttributeValues: { ":two": 2 },
      }),
    );
    await client.send(new DeleteCommand({ TableName, Key }));

    expect(await recordsOf(table, "change-1")).toEqual([
      ["INSERT", undefined, image("change-1", 1)],
      ["MODIFY", image("change-1", 1), image("change-1", 2)],
      ["REMOVE", image("change-1", 2), undefined],
    ]);
  },

  async "a write that changes nothing makes no record"(table) {
    const { client, tableName: TableName } = table;
    const Item = { messageId: "change-2", attempt: 1 };
    await client.send(new PutCommand({ TableName, Item }));

    await client.send(new PutCommand({ TableName, Item }));
    await client.send(
      new UpdateCommand({
        TableName,
        Key: { messageId: "change-2" },
        UpdateExpression: "SET attempt = :one REMOVE lastError",
        ExpressionAttributeValues: { ":one": 1 },
      }),
    );

    expect(await recordsOf(table, "change-2")).toEqual([
      ["INSERT", undefined, image("change-2", 1)],
    ]);
  },

  async "a condition that fails makes no record"(table) {
    const { client, tableName: TableName } = table;
    const Item = { messageId: "change-3", attempt: 1 };
    await client.send(new PutCommand({ TableName, Item }));

    const again = new PutCommand({
      TableName,
      Item: { ...Item, attempt: 2 },
      ConditionExpression: "attribute_not_exists(messageId)",
    });

    await expect(client.send(again)).rejects.toThrow("The conditional request failed");
    expect(await recordsOf(table, "change-3")).toHaveLength(1);
  },

  async "a transaction makes one record for each item that it changes"(table) {
    const { client, tableName: TableName } = table;
    const put = (messageId: string) => ({ Put: { TableName, Item: { messageId, attempt: 1 } } });

    await client.send(
      new TransactWriteCommand({ TransactItems: [put("change-4a"), put("change-4b")] }),
    );

    expect(await recordsOf(table, "change-4a", "change-4b")).toEqual([
      ["INSERT", undefined, image("change-4a", 1)],
      ["INSERT", undefined, image("change-4b", 1)],
    ]);
  },
});
