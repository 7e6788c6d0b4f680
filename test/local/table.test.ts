// The local table's operations, through the SDK. Expressions, transactions, changes and faults have
// files of their own.

import {
  CreateTableCommand,
  DeleteTableCommand,
  DescribeTableCommand,
  DescribeTimeToLiveCommand,
  ListTablesCommand,
  UpdateTimeToLiveCommand,
} from "@aws-sdk/client-dynamodb";
import {
  BatchGetCommand,
  DeleteCommand,
  GetCommand,
  PutCommand,
  ScanCommand,
  UpdateCommand,
} from "@aws-sdk/lib-dynamodb";
import type { ScanCommandInput } from "@aws-sdk/lib-dynamodb";
import { expect, test } from "vitest";

import { failureOf, NOW_MS, startedTable } from "./aws-fixture.ts";

const NOW_S = 1_772_366_400;
const TableName = "records";
const Key = { messageId: "m-1" };
const CLAIMED = { messageId: "m-1", status: "IN_PROGRESS", owner: "a", attempt: 2 };
const put = (Item: Record<string, unknown>) => new PutCommand({ TableName, Item });

const FAILING = {
  TableName,
  ConditionExpression: "#o = :b",
  ExpressionAttributeNames: { "#o": "owner" },
  ExpressionAttributeValues: { ":b": "b" },
};
type Asked = { ReturnValuesOnConditionCheckFailure?: "ALL_OLD" | "NONE" };
const WRITES: [string, (asked: Asked) => PutCommand][] = [
  ["PutItem", (asked) => new PutCommand({ ...FAILING, ...asked, Item: Key })],
  [
    "UpdateItem",
    (asked) =>
      new UpdateCommand({ ...FAILING, ...asked, Key, UpdateExpression: "SET #o = :b" }) as never,
  ],
  ["DeleteItem", (asked) => new DeleteCommand({ ...FAILING, ...asked, Key }) as never],
];

test.each(WRITES)(
  "a %s that fails its condition answers with the old item if that is asked for and there is one",
  async (_name, command) => {
    const { table, client } = await startedTable();
    const fail = async (asked: Asked) => {
      const { name, message, Item } = await failureOf(client.send(command(asked)));
      return { name, message, Item };
    };
    const failed = {
      name: "ConditionalCheckFailedException",
      message: "The conditional request failed",
      Item: undefined,
    };

    expect(await fail({ ReturnValuesOnConditionCheckFailure: "ALL_OLD" })).toEqual(failed);
    await client.send(put(CLAIMED));
    expect(await fail({})).toEqual(failed);
    expect(await fail({ ReturnValuesOnConditionCheckFailure: "NONE" })).toEqual(failed);
    expect(await fail({ ReturnValuesOnConditionCheckFailure: "ALL_OLD" })).toEqual({
      ...failed,
      Item: {
        messageId: { S: "m-1" },
        status: { S: "IN_PROGRESS" },
        owner: { S: "a" },
        attempt: { N: "2" },
      },
    });
    expect(await table.items(TableName)).toEqual([CLAIMED]);
  },
);

test("of many claims at once one wins, and every other is shown the winner", async () => {
  const { table, client } = await startedTable();
  const claim = async (owner: string): Promise<unknown> => {
    const command = new PutCommand({
      TableName,
      Item: { messageId: "m-1", owner },
      ConditionExpression: "attribute_not_exists(messageId)",
      ReturnValuesOnConditionCheckFailure: "ALL_OLD",
    });
    return client.send(command).then(
      () => "won",
      (error: { Item?: { owner?: { S?: string } } }) => error.Item?.owner?.S,
    );
  };

  const results = await Promise.all(Array.from({ length: 40 }, (_, i) => claim(`owner-${i}`)));

  const record = await table.item(TableName, "m-1");
  expect(results.filter((result) => result === "won")).toHaveLength(1);
  expect(results.filter((result) => result === record?.["owner"])).toHaveLength(39);
});

test.each([
  ["NONE", undefined],
  ["ALL_OLD", CLAIMED],
  ["ALL_NEW", { messageId: "m-1", owner: "a", attempt: 3 }],
  ["UPDATED_OLD", { status: "IN_PROGRESS", attempt: 2 }],
  ["UPDATED_NEW", { attempt: 3 }],
] as const)(
  "an update answers with %s of the item when asked to",
  async (ReturnValues, expected) => {
    const { client } = await startedTable();
    await client.send(put(CLAIMED));

    const { Attributes } = await client.send(
      new UpdateCommand({
        TableName,
        Key,
        UpdateExpression: "SET attempt = :three REMOVE #status",
        ExpressionAttributeNames: { "#status": "status" },
        ExpressionAttributeValues: { ":three": 3 },
        ReturnValues,
      }),
    );

    expect(Attributes).toEqual(expected);
  },
);

test("a put and a delete answer with the old item when asked to", async () => {
  const { client } = await startedTable();
  const old = { TableName, ReturnValues: "ALL_OLD" } as const;

  const ends = [
    await client.send(new PutCommand({ ...old, Item: CLAIMED })),
    await client.send(new PutCommand({ ...old, Item: { messageId: "m-1", owner: "b" } })),
    await client.send(new DeleteCommand({ ...old, Key })),
    await client.send(new DeleteCommand({ ...old, Key })),
  ];

  expect(ends.map(({ Attributes }) => Attributes)).toEqual([
    undefined,
    CLAIMED,
    { messageId: "m-1", owner: "b" },
    undefined,
  ]);
});

test("an item of every type is read as it was written", async () => {
  const { table, client } = await startedTable();
  const Item = {
    messageId: "m-1",
    attempt: 3,
    live: true,
    gone: null,
    outcome: { kind: "declined", codes: ["a", 1] },
    tags: new Set(["x"]),
    numbers: new Set([1, 2]),
    bytes: new Uint8Array([0, 255]),
  };
  await client.send(put(Item));

  expect((await client.send(new GetCommand({ TableName, Key }))).Item).toEqual(Item);
  expect((await client.send(new GetCommand({ TableName, Key: { messageId: "m-2" } }))).Item).toBe(
    undefined,
  );
  expect(await table.item(TableName, "m-1")).toEqual({
    ...Item,
    tags: ["x"],
    numbers: [1, 2],
    bytes: "AP8=",
  });
  expect(await table.item(TableName, "m-2")).toBeUndefined();
});

const VALIDATION = [
  ["an item without its key", put({ owner: "a" }), "Missing the key messageId in the item"],
  [
    "a key of another type",
    put({ messageId: 1 }),
    "Type mismatch for key messageId expected: S actual: N",
  ],
  ["an empty key", put({ messageId: "" }), "cannot contain an empty string value. Key: messageId"],
  [
    "a key of 2,049 bytes",
    put({ messageId: "x".repeat(2049) }),
    "Size of hashkey has exceeded the maximum size limit of 2048 bytes",
  ],
  [
    "a key with another attribute",
    new GetCommand({ TableName, Key: { ...Key, owner: "a" } }),
    "The provided key element does not match the schema",
  ],
  [
    "an item above 400 KB",
    put({ ...Key, text: "x".repeat(409_600 - 13) }),
    "Item size has exceeded the maximum allowed size",
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
    "an enum of no known value",
    WRITES[0]?.[1]({ ReturnValuesOnConditionCheckFailure: "OLD" as never }),
    "Value 'OLD' at 'returnValuesOnConditionCheckFailure' failed to satisfy constraint: Member must satisfy enum value set: [ALL_OLD, NONE]",
  ],
  [
    "the new item of a put",
    new PutCommand({ TableName, Item: Key, ReturnValues: "ALL_NEW" }),
    "Member must satisfy enum value set: [ALL_OLD, NONE]",
  ],
  [
    "a legacy parameter",
    new PutCommand({ TableName, Item: Key, Expected: { owner: { Exists: false } } }),
    "The local table does not know Expected of PutItem.",
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

test("a table is created once, described, listed and deleted", async () => {
  const { client } = await startedTable();
  const create = new CreateTableCommand({
    TableName: "other",
    BillingMode: "PAY_PER_REQUEST",
    AttributeDefinitions: [
      { AttributeName: "id", AttributeType: "S" },
      { AttributeName: "at", AttributeType: "N" },
    ],
    KeySchema: [
      { AttributeName: "id", KeyType: "HASH" },
      { AttributeName: "at", KeyType: "RANGE" },
    ],
  });
  await client.send(create);
  for (const at of [1, 2])
    await client.send(new PutCommand({ TableName: "other", Item: { id: "a", at } }));

  const again = await failureOf(client.send(create));
  const { Table } = await client.send(new DescribeTableCommand({ TableName: "other" }));
  const { TableNames } = await client.send(new ListTablesCommand());
  await client.send(new DeleteTableCommand({ TableName: "other" }));
  const gone = await failureOf(client.send(new DescribeTableCommand({ TableName: "other" })));

  expect(again.name).toBe("ResourceInUseException");
  expect(Table).toMatchObject({ TableStatus: "ACTIVE", ItemCount: 2 });
  expect(TableNames).toEqual(["other", "records"]);
  expect(gone).toMatchObject({
    name: "ResourceNotFoundException",
    message: "Requested resource not found: Table: other not found",
  });
});

test("TTL is on or off as it was set, and names its attribute", async () => {
  const { table, client } = await startedTable();
  const status = async () =>
    (await client.send(new DescribeTimeToLiveCommand({ TableName }))).TimeToLiveDescription;
  const turn = (AttributeName: string, Enabled: boolean) =>
    client.send(
      new UpdateTimeToLiveCommand({
        TableName,
        TimeToLiveSpecification: { AttributeName, Enabled },
      }),
    );

  expect(await status()).toEqual({ TimeToLiveStatus: "ENABLED", AttributeName: "expiresAt" });
  expect(await failureOf(turn("expiresAt", true))).toMatchObject({
    name: "ValidationException",
    message: "TimeToLive is already enabled",
  });
  expect((await failureOf(turn("until", false))).message).toBe(
    "TimeToLive is active on a different AttributeName: current AttributeName is expiresAt",
  );
  await turn("expiresAt", false);
  expect(await status()).toEqual({ TimeToLiveStatus: "DISABLED" });
  expect((await failureOf(turn("expiresAt", false))).message).toBe(
    "TimeToLive is already disabled",
  );
  await client.send(put({ ...Key, expiresAt: NOW_S - 1 }));
  expect(await table.deleteExpired()).toBe(0);
  await turn("expiresAt", true);
  expect(await table.deleteExpired()).toBe(1);
});

test("every operation on a table that is not there says so", async () => {
  const { client } = await startedTable();
  const nowhere = { TableName: "nowhere" };

  for (const command of [
    new DescribeTimeToLiveCommand(nowhere),
    new DeleteTableCommand(nowhere),
    new GetCommand({ ...nowhere, Key }),
    new PutCommand({ ...nowhere, Item: Key }),
    new ScanCommand(nowhere),
  ]) {
    const failure = await failureOf(client.send(command as GetCommand));
    expect(failure.name).toBe("ResourceNotFoundException");
  }
});

test("the TTL deleter takes what has expired in seconds and nothing else", async () => {
  const { table, client } = await startedTable();
  const expired = [
    { messageId: "expired a second ago", expiresAt: NOW_S - 1 },
    { messageId: "expired four years ago", expiresAt: 1_646_136_000 },
  ];
  const left = [
    { messageId: "expires this second", expiresAt: NOW_S },
    { messageId: "expires tomorrow", expiresAt: NOW_S + 86_400 },
    { messageId: "expired, in milliseconds", expiresAt: NOW_MS - 1000 },
    { messageId: "expired, as a string", expiresAt: String(NOW_S - 1) },
    { messageId: "expired more than five years ago", expiresAt: 1_600_000_000 },
    { messageId: "never" },
  ];
  for (const item of [...expired, ...left]) await client.send(put(item));

  expect(await table.deleteExpired()).toBe(2);
  expect(await table.items(TableName)).toEqual(left);
  expect(await table.deleteExpired(NOW_S + 86_400)).toBe(1);
  expect(await table.deleteExpired(NOW_S + 86_401)).toBe(1);
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
