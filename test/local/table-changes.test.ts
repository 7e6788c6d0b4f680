// The table's stream of changes.

import {
  DeleteCommand,
  PutCommand,
  TransactWriteCommand,
  UpdateCommand,
} from "@aws-sdk/lib-dynamodb";
import { expect, test } from "vitest";

import { createChangeLog } from "../../local/table/change-log.ts";
import type { Change } from "../../local/table/change-log.ts";
import { failureOf, startedTable } from "./aws-fixture.ts";

const TableName = "records";
const put = (messageId: string, attempt = 1) =>
  new PutCommand({ TableName, Item: { messageId, attempt } });
const image = (messageId: string, attempt: number) => ({
  messageId: { S: messageId },
  attempt: { N: String(attempt) },
});

const shown = ({ eventName, dynamodb: { OldImage, NewImage }, userIdentity }: Change) => ({
  eventName,
  OldImage,
  NewImage,
  ...(userIdentity && { by: userIdentity.principalId }),
});

test("every change makes one record, in order, with the images of before and after", async () => {
  const { table, client } = await startedTable();

  await client.send(put("a"));
  await client.send(put("a", 2));
  await client.send(new DeleteCommand({ TableName, Key: { messageId: "a" } }));

  const records = table.changes(TableName).after(undefined);
  expect(records.map(shown)).toEqual([
    { eventName: "INSERT", OldImage: undefined, NewImage: image("a", 1) },
    { eventName: "MODIFY", OldImage: image("a", 1), NewImage: image("a", 2) },
    { eventName: "REMOVE", OldImage: image("a", 2), NewImage: undefined },
  ]);
  expect(records[0]).toEqual({
    eventID: "100000000000000000000",
    eventName: "INSERT",
    eventVersion: "1.1",
    eventSource: "aws:dynamodb",
    awsRegion: "us-east-1",
    dynamodb: {
      ApproximateCreationDateTime: 1_772_366_400,
      Keys: { messageId: { S: "a" } },
      NewImage: image("a", 1),
      SequenceNumber: "100000000000000000000",
      SizeBytes: 29,
      StreamViewType: "NEW_AND_OLD_IMAGES",
    },
  });
});

test("what changes nothing makes no record", async () => {
  const { table, client } = await startedTable();
  await client.send(put("a"));
  const { SequenceNumber } = table.changes(TableName).after(undefined)[0]?.dynamodb ?? {};

  await client.send(put("a"));
  await client.send(
    new UpdateCommand({
      TableName,
      Key: { messageId: "a" },
      UpdateExpression: "SET attempt = :one REMOVE lastError",
      ExpressionAttributeValues: { ":one": 1 },
    }),
  );
  await client.send(new DeleteCommand({ TableName, Key: { messageId: "absent" } }));
  await failureOf(
    client.send(
      new PutCommand({
        TableName,
        Item: { messageId: "a" },
        ConditionExpression: "attribute_not_exists(messageId)",
      }),
    ),
  );

  expect(table.changes(TableName).after(SequenceNumber)).toEqual([]);
});

test("a transaction makes a record for each item, and none when it is canceled", async () => {
  const { table, client } = await startedTable();
  const transact = (condition: string) =>
    client.send(
      new TransactWriteCommand({
        TransactItems: [
          { Put: { TableName, Item: { messageId: "a", attempt: 1 } } },
          {
            Put: {
              TableName,
              Item: { messageId: "b", attempt: 1 },
              ConditionExpression: condition,
            },
          },
        ],
      }),
    );

  await failureOf(transact("attribute_exists(messageId)"));
  await transact("attribute_not_exists(messageId)");

  expect(table.changes(TableName).after(undefined).map(shown)).toEqual([
    { eventName: "INSERT", OldImage: undefined, NewImage: image("a", 1) },
    { eventName: "INSERT", OldImage: undefined, NewImage: image("b", 1) },
  ]);
});

test("a record says that it was TTL that deleted", async () => {
  const { table, client } = await startedTable();
  await client.send(
    new PutCommand({ TableName, Item: { messageId: "a", expiresAt: 1_772_366_399 } }),
  );

  await table.deleteExpired();

  expect(table.changes(TableName).after(undefined, 9).map(shown)[1]).toEqual({
    eventName: "REMOVE",
    OldImage: { messageId: { S: "a" }, expiresAt: { N: "1772366399" } },
    NewImage: undefined,
    by: "dynamodb.amazonaws.com",
  });
});

test("a listener hears each change until it unsubscribes", async () => {
  const { table, client } = await startedTable();
  const heard: string[] = [];
  const unsubscribe = table
    .changes(TableName)
    .subscribe(({ dynamodb }) => heard.push(String(dynamodb.Keys["messageId"]?.S)));

  await client.send(put("a"));
  unsubscribe();
  await client.send(put("b"));

  expect(heard).toEqual(["a"]);
});

test("a reader goes on where it was, and at the oldest that is kept when it was away for too long", () => {
  const { log, record } = createChangeLog(() => 0);
  const write = (count: number) => {
    for (let i = 0; i < count; i += 1) {
      record({ keys: { id: { N: "1" } }, before: undefined, after: { id: { N: "1" } } });
    }
  };
  const numbers = (after: string | undefined, limit: number) =>
    log.after(after, limit).map(({ dynamodb }) => dynamodb.SequenceNumber);

  write(5);
  const first = numbers(undefined, 2);
  const next = numbers(first[1], 2);
  write(200_000);
  const late = numbers(next[1], 1);

  expect(first).toEqual(["100000000000000000000", "100000000000000000001"]);
  expect(next).toEqual(["100000000000000000002", "100000000000000000003"]);
  // The 200,001st change left the last 100,000.
  expect(late).toEqual(["100000000000000100001"]);
});
