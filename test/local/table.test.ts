// The local table's operations, through the SDK. Expressions, transactions, changes and faults have
// files of their own.

import { DescribeTableCommand, ListTablesCommand } from "@aws-sdk/client-dynamodb";
import {
  BatchGetCommand,
  GetCommand,
  PutCommand,
  ScanCommand,
  UpdateCommand,
} from "@aws-sdk/lib-dynamodb";
import type { ScanCommandInput } from "@aws-sdk/lib-dynamodb";
import { expect, test } from "vitest";

import { failureOf, NOW_MS, startedTable } from "./aws-fixture.ts";

const TableName = "records";
const Key = { messageId: "m-1" };
const put = (Item: Record<string, unknown>) => new PutCommand({ TableName, Item });

test("an item of every type is read as it was written", async () => {
  const { table, client } = await startedTable();
  const Item = {
    messageId: "m-1",
    attempt: 3,
    live: true,
    gone: null,
    outcome: { kind: "declined", codes: ["a", 1] },
  };
  await client.send(put(Item));

  expect((await client.send(new GetCommand({ TableName, Key }))).Item).toEqual(Item);
  expect((await client.send(new GetCommand({ TableName, Key: { messageId: "m-2" } }))).Item).toBe(
    undefined,
  );
  expect(await table.item(TableName, "m-1")).toEqual(Item);
  expect(await table.item(TableName, "m-2")).toBeUndefined();
});

const VALIDATION = [
  ["an item without its key", put({ owner: "a" }), "Missing the key messageId in the item"],
  ["a key of another type", put({ messageId: 1 }), "key messageId expected: S actual: N"],
  ["an empty key", put({ messageId: "" }), "cannot contain an empty string value. Key: messageId"],
  [
    "a key with another attribute",
    new GetCommand({ TableName, Key: { ...Key, owner: "a" } }),
    "The provided key element does not match the schema",
  ],
  [
    "an item above 400 KB",
    put({ ...Key, text: "x".repeat(409_600 - 13) }),
    "Item size has exceeded",
  ],
  [
    "an update that makes an item above 400 KB",
    new UpdateCommand({
      TableName,
      Key,
      UpdateExpression: "SET body = :text",
      ExpressionAttributeValues: { ":text": "x".repeat(409_600) },
    }),
    "Item size to update has exceeded the maximum allowed size",
  ],
  [
    "a placeholder that is not used",
    new PutCommand({ TableName, Item: Key, ExpressionAttributeNames: { "#a": "a" } }),
    "Value provided in ExpressionAttributeNames unused in expressions: keys: {#a}",
  ],
  [
    "a parameter that the table does not know",
    new PutCommand({ TableName, Item: Key, ReturnValues: "ALL_OLD" }),
    "The local table does not know ReturnValues of PutItem.",
  ],
  [
    "a value of a type that the table does not know",
    put({ ...Key, tags: [new Set(["x"])] }),
    "The local table does not know values of type SS.",
  ],
] as [string, PutCommand, string][];

test.each(VALIDATION)("%s is invalid, and writes nothing", async (_name, command, message) => {
  const { table, client } = await startedTable();

  const failure = await failureOf(client.send(command));

  expect(failure.name).toBe("ValidationException");
  expect(failure.message).toContain(message);
  expect(await table.items(TableName)).toEqual([]);
});

test("an item of 400 KB is kept", async () => {
  const { table, client } = await startedTable();

  await client.send(put({ ...Key, body: "x".repeat(409_600 - 9 - 3 - 4) }));

  expect(await table.items(TableName)).toHaveLength(1);
});

test("a batch of keys answers with the items that there are", async () => {
  const { client } = await startedTable();
  for (const messageId of ["a", "b"]) await client.send(put({ messageId, owner: messageId }));
  const batch = (ids: string[]) =>
    client.send(
      new BatchGetCommand({
        RequestItems: {
          [TableName]: {
            Keys: ids.map((messageId) => ({ messageId })),
            ProjectionExpression: "#o",
            ExpressionAttributeNames: { "#o": "owner" },
          },
        },
      }),
    );

  const { Responses, UnprocessedKeys } = await batch(["a", "b", "c"]);
  const twice = await failureOf(batch(["a", "a"]));
  const many = await failureOf(batch(Array.from({ length: 101 }, (_, i) => `${i}`)));

  expect(Responses).toEqual({ records: [{ owner: "a" }, { owner: "b" }] });
  expect(UnprocessedKeys).toEqual({});
  expect(twice.message).toBe("Provided list of item keys contains duplicates");
  expect(many.message).toBe("Too many items requested for the BatchGetItem call");
});

/** Sixty items; how a scan sees them, page by page. */
async function scanned(input: Partial<ScanCommandInput>) {
  const { client } = await startedTable();
  const ids = Array.from({ length: 60 }, (_, i) => `m-${i}`);
  for (const messageId of ids)
    await client.send(put({ messageId, even: ids.indexOf(messageId) % 2 }));
  const scan = async (more: Partial<ScanCommandInput>) => {
    const pages: { ids: string[]; scanned: number | undefined }[] = [];
    let ExclusiveStartKey: Record<string, unknown> | undefined;
    do {
      const page = await client.send(
        new ScanCommand({ TableName, ...input, ...more, ExclusiveStartKey }),
      );
      ExclusiveStartKey = page.LastEvaluatedKey;
      const pageIds = (page.Items ?? []).map((item) => String(item["messageId"]));
      pages.push({ ids: pageIds, scanned: page.ScannedCount });
    } while (ExclusiveStartKey);
    return pages;
  };
  return { ids: ids.toSorted(), scan, client };
}

test("a scan in pages shows every item once, and the next scan what has come since", async () => {
  const { ids, scan, client } = await scanned({ Limit: 7 });

  const pages = await scan({});
  await client.send(put({ messageId: "m-new" }));
  const later = await scan({ Limit: 100 });

  expect(pages.map((page) => page.ids.length)).toEqual([7, 7, 7, 7, 7, 7, 7, 7, 4]);
  expect(pages.flatMap((page) => page.ids).toSorted()).toEqual(ids);
  expect(later.flatMap((page) => page.ids).toSorted()).toEqual([...ids, "m-new"]);
});

test("the segments of a scan share the items between them", async () => {
  const { ids, scan } = await scanned({ TotalSegments: 3, Limit: 5 });

  const segments = await Promise.all([0, 1, 2].map((Segment) => scan({ Segment })));

  const seen = segments.map((pages) => pages.flatMap((page) => page.ids));
  expect(seen.flat().toSorted()).toEqual(ids);
  for (const segment of seen) expect(segment.length).toBeGreaterThan(5);
});

test("a scan filters after it has counted, and shows what is asked for", async () => {
  const { scan } = await scanned({
    FilterExpression: "even = :zero",
    ProjectionExpression: "messageId",
    ExpressionAttributeValues: { ":zero": 0 },
    Limit: 20,
  });

  const pages = await scan({});

  expect(pages.flatMap((page) => page.ids)).toHaveLength(30);
  expect(pages.map((page) => page.scanned)).toEqual([20, 20, 20, 0]);
});

test("a page of a scan ends at 1 MB", async () => {
  const { table, client } = await startedTable();
  const ids = ["a", "b", "c", "d", "e"];
  for (const messageId of ids) await client.send(put({ messageId, text: "x".repeat(300_000) }));

  const { Count, LastEvaluatedKey } = await client.send(new ScanCommand({ TableName }));

  expect([Count, LastEvaluatedKey]).toEqual([3, { messageId: expect.stringMatching(/^[a-e]$/) }]);
  expect(await table.items(TableName)).toHaveLength(5);
});

test("a table is described and listed", async () => {
  const { client } = await startedTable();
  for (const messageId of ["a", "b"]) await client.send(put({ messageId }));

  const { Table } = await client.send(new DescribeTableCommand({ TableName }));
  const { TableNames } = await client.send(new ListTablesCommand());

  expect(Table).toMatchObject({ TableStatus: "ACTIVE", ItemCount: 2 });
  expect(TableNames).toEqual([TableName]);
});

test.each([
  new DescribeTableCommand({ TableName: "nowhere" }) as unknown as GetCommand,
  new GetCommand({ TableName: "nowhere", Key }),
  new PutCommand({ TableName: "nowhere", Item: Key }) as unknown as GetCommand,
])("an operation on a table that is not there says so", async (command) => {
  const { client } = await startedTable();

  expect((await failureOf(client.send(command))).name).toBe("ResourceNotFoundException");
});

test("the log has each request's operation, table, message id, update and how it ended", async () => {
  const { table, client } = await startedTable();
  const claim = new PutCommand({
    TableName,
    Item: Key,
    ConditionExpression: "attribute_not_exists(messageId)",
  });

  await client.send(claim);
  await failureOf(client.send(claim));
  await client.send(new GetCommand({ TableName, Key: { messageId: "m-2" } }));
  await client.send(
    new UpdateCommand({
      TableName,
      Key,
      UpdateExpression: "SET attempt = :two",
      ExpressionAttributeValues: { ":two": 2 },
    }),
  );
  await table.items(TableName);
  await table.deleteExpired();

  const seen = { table: "records", atMs: NOW_MS, messageId: "m-1" };
  expect(table.requests()).toEqual([
    { ...seen, operation: "PutItem", result: "ok" },
    { ...seen, operation: "PutItem", result: "ConditionalCheckFailedException" },
    { ...seen, operation: "GetItem", messageId: "m-2", result: "ok" },
    { ...seen, operation: "UpdateItem", update: "SET attempt = :two", result: "ok" },
  ]);
  expect(table.counts()).toEqual({ PutItem: 2, GetItem: 1, UpdateItem: 1 });
});

test("an operation that the table does not have, and a body that is not JSON, are errors", async () => {
  const { table } = await startedTable();
  const send = async (body: string) => {
    const headers = { "x-amz-target": "DynamoDB_20120810.Nonsense" };
    const response = await fetch(table.url, { method: "POST", headers, body });
    return [response.status, await response.json()];
  };

  expect(await send("{}")).toEqual([
    400,
    { __type: "com.amazon.coral.service#UnknownOperationException" },
  ]);
  expect(await send("not JSON")).toEqual([
    400,
    { __type: "SerializationException", message: "The body is not a JSON object." },
  ]);
});
