// What the table's stream does beyond the scenarios of test/conformance.

import { PutCommand } from "@aws-sdk/lib-dynamodb";
import { expect, test } from "vitest";

import { createChangeLog } from "../../local/table/change-log.ts";
import { startedTable } from "./aws-fixture.ts";

const TableName = "records";
const put = (messageId: string, attempt = 1) =>
  new PutCommand({ TableName, Item: { messageId, attempt } });
test("a record is as Lambda gets it, but for the stream's ARN", async () => {
  const { table, client } = await startedTable();

  await client.send(put("a"));

  expect(table.changes(TableName).after(undefined)).toEqual([
    {
      eventID: "100000000000000000000",
      eventName: "INSERT",
      eventVersion: "1.1",
      eventSource: "aws:dynamodb",
      awsRegion: "us-east-1",
      dynamodb: {
        ApproximateCreationDateTime: 1_772_366_400,
        Keys: { messageId: { S: "a" } },
        NewImage: { messageId: { S: "a" }, attempt: { N: "1" } },
        SequenceNumber: "100000000000000000000",
        SizeBytes: 29,
        StreamViewType: "NEW_AND_OLD_IMAGES",
      },
    },
  ]);
});

test("a record says that it was TTL that deleted", async () => {
  const { table, client } = await startedTable();
  await client.send(
    new PutCommand({ TableName, Item: { messageId: "a", expiresAt: 1_772_366_399 } }),
  );

  await table.deleteExpired();

  expect(table.changes(TableName).after(undefined)[1]).toMatchObject({
    eventName: "REMOVE",
    dynamodb: { OldImage: { messageId: { S: "a" }, expiresAt: { N: "1772366399" } } },
    userIdentity: { type: "Service", principalId: "dynamodb.amazonaws.com" },
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
