import {
  CreateTableCommand,
  DescribeTimeToLiveCommand,
  UpdateTimeToLiveCommand,
} from "@aws-sdk/client-dynamodb";
import { DeleteCommand, GetCommand, PutCommand, UpdateCommand } from "@aws-sdk/lib-dynamodb";
import { expect, test } from "vitest";

import { startTable } from "../../local/table/server.ts";
import { failureOf, NOW_MS, startedTable } from "./aws-fixture.ts";

const NOW_S = 1_772_366_400;
const HELD = { messageId: "m-1", status: "IN_PROGRESS", owner: "a", attempt: 2 };
const HELD_TYPED = {
  messageId: { S: "m-1" },
  status: { S: "IN_PROGRESS" },
  owner: { S: "a" },
  attempt: { N: "2" },
};

const SAME = { TableName: "records", ConditionExpression: "#o = :b" } as const;
const NAMES = { ExpressionAttributeNames: { "#o": "owner" } } as const;
const VALUES = { ExpressionAttributeValues: { ":b": "b" } } as const;
const WRITES = [
  {
    name: "PutItem",
    command: (extra: object) =>
      new PutCommand({ ...SAME, ...NAMES, ...VALUES, Item: { messageId: "m-1" }, ...extra }),
  },
  {
    name: "UpdateItem",
    command: (extra: object) =>
      new UpdateCommand({
        ...SAME,
        ...NAMES,
        ...VALUES,
        Key: { messageId: "m-1" },
        UpdateExpression: "SET #o = :b",
        ...extra,
      }),
  },
  {
    name: "DeleteItem",
    command: (extra: object) =>
      new DeleteCommand({ ...SAME, ...NAMES, ...VALUES, Key: { messageId: "m-1" }, ...extra }),
  },
];

test.for(WRITES)(
  "a $name that fails its condition answers with the old item",
  async ({ command }) => {
    const { table, client } = await startedTable();
    await client.send(new PutCommand({ TableName: "records", Item: HELD }));

    const failure = await failureOf(
      client.send(command({ ReturnValuesOnConditionCheckFailure: "ALL_OLD" }) as PutCommand),
    );

    expect(failure).toMatchObject({
      name: "ConditionalCheckFailedException",
      message: "The conditional request failed",
      Item: HELD_TYPED,
    });
    expect(await table.items("records")).toEqual([HELD]);
  },
);

test.for(WRITES)(
  "a $name that did not ask for the old item does not get it",
  async ({ command }) => {
    const { client } = await startedTable();
    await client.send(new PutCommand({ TableName: "records", Item: HELD }));

    const unasked = await failureOf(client.send(command({}) as PutCommand));
    const none = await failureOf(
      client.send(command({ ReturnValuesOnConditionCheckFailure: "NONE" }) as PutCommand),
    );

    expect(unasked.name).toBe("ConditionalCheckFailedException");
    expect(unasked["Item"]).toBeUndefined();
    expect(none.name).toBe("ConditionalCheckFailedException");
    expect(none["Item"]).toBeUndefined();
  },
);

test.for(WRITES)(
  "a $name that fails where there is no item answers without one",
  async ({ command }) => {
    const { client } = await startedTable();

    const failure = await failureOf(
      client.send(command({ ReturnValuesOnConditionCheckFailure: "ALL_OLD" }) as PutCommand),
    );

    expect(failure.name).toBe("ConditionalCheckFailedException");
    expect(failure["Item"]).toBeUndefined();
  },
);

test("a misspelt ReturnValuesOnConditionCheckFailure is refused", async () => {
  const { client } = await startedTable();
  const misspelt = { ReturnValuesOnConditionCheckFailure: "OLD" };

  const failure = await failureOf(client.send(WRITES[0]?.command(misspelt) as PutCommand));

  expect(failure.name).toBe("ValidationException");
});

test("of many claims at once one wins, and every other is shown the winner", async () => {
  const { table, client } = await startedTable();
  const owners = Array.from({ length: 40 }, (_, index) => `owner-${index}`);

  const results = await Promise.all(
    owners.map((owner) =>
      client
        .send(
          new PutCommand({
            TableName: "records",
            Item: { messageId: "m-1", owner },
            ConditionExpression: "attribute_not_exists(messageId)",
            ReturnValuesOnConditionCheckFailure: "ALL_OLD",
          }),
        )
        .then(
          () => "won",
          (error: { Item?: { owner?: { S?: string } } }) => error.Item?.owner?.S,
        ),
    ),
  );

  const record = await table.item("records", "m-1");
  expect(results.filter((result) => result === "won")).toHaveLength(1);
  expect(results.filter((result) => result === record?.["owner"])).toHaveLength(39);
});

test("a records table says that its TTL attribute is expiresAt", async () => {
  const { client } = await startedTable();

  const described = await client.send(new DescribeTimeToLiveCommand({ TableName: "records" }));

  expect(described.TimeToLiveDescription).toEqual({
    TimeToLiveStatus: "ENABLED",
    AttributeName: "expiresAt",
  });
});

test("TTL is off until it is switched on, and can be switched off again", async () => {
  const { client } = await startedTable();
  await client.send(
    new CreateTableCommand({
      TableName: "other",
      BillingMode: "PAY_PER_REQUEST",
      AttributeDefinitions: [{ AttributeName: "id", AttributeType: "S" }],
      KeySchema: [{ AttributeName: "id", KeyType: "HASH" }],
    }),
  );
  const statusOf = async () =>
    (await client.send(new DescribeTimeToLiveCommand({ TableName: "other" }))).TimeToLiveDescription
      ?.TimeToLiveStatus;
  const turn = (Enabled: boolean) =>
    client.send(
      new UpdateTimeToLiveCommand({
        TableName: "other",
        TimeToLiveSpecification: { AttributeName: "until", Enabled },
      }),
    );

  const before = await statusOf();
  const answer = await turn(true);
  const on = await statusOf();
  await turn(false);
  const off = await statusOf();

  expect(answer.TimeToLiveSpecification).toEqual({ AttributeName: "until", Enabled: true });
  expect([before, on, off]).toEqual(["DISABLED", "ENABLED", "DISABLED"]);
});

test.for([
  {
    change: { AttributeName: "expiresAt", Enabled: true },
    message: "TimeToLive is already enabled",
  },
  {
    change: { AttributeName: "until", Enabled: true },
    message:
      "TimeToLive is active on a different AttributeName: current AttributeName is expiresAt",
  },
  {
    change: { AttributeName: "until", Enabled: false },
    message:
      "TimeToLive is active on a different AttributeName: current AttributeName is expiresAt",
  },
])("a TTL change that AWS refuses is refused: $message ($change.Enabled)", async (example) => {
  const { client } = await startedTable();

  const failure = await failureOf(
    client.send(
      new UpdateTimeToLiveCommand({
        TableName: "records",
        TimeToLiveSpecification: example.change,
      }),
    ),
  );

  expect(failure).toMatchObject({ name: "ValidationException", message: example.message });
});

test("TTL calls for a table that does not exist say so", async () => {
  const { client } = await startedTable();

  const described = await failureOf(
    client.send(new DescribeTimeToLiveCommand({ TableName: "nowhere" })),
  );
  const updated = await failureOf(
    client.send(
      new UpdateTimeToLiveCommand({
        TableName: "nowhere",
        TimeToLiveSpecification: { AttributeName: "until", Enabled: true },
      }),
    ),
  );

  expect(described.name).toBe("ResourceNotFoundException");
  expect(updated.name).toBe("ResourceNotFoundException");
});

test("the TTL deleter takes what has expired in seconds and nothing else", async () => {
  const { table, client } = await startedTable();
  const items = [
    { messageId: "expired a second ago", expiresAt: NOW_S - 1 },
    { messageId: "expired four years ago", expiresAt: 1_646_136_000 },
    { messageId: "expires this second", expiresAt: NOW_S },
    { messageId: "expires tomorrow", expiresAt: NOW_S + 86_400 },
    { messageId: "expired, in milliseconds", expiresAt: NOW_MS - 1000 },
    { messageId: "expired, as a string", expiresAt: String(NOW_S - 1) },
    { messageId: "expired more than five years ago", expiresAt: 1_600_000_000 },
    { messageId: "never" },
  ];
  for (const Item of items) await client.send(new PutCommand({ TableName: "records", Item }));

  const deleted = await table.deleteExpired();

  const left = (await table.items("records")).map(({ messageId }) => messageId);
  expect(deleted).toBe(2);
  expect(new Set(left)).toEqual(
    new Set([
      "expired more than five years ago",
      "expired, as a string",
      "expired, in milliseconds",
      "expires this second",
      "expires tomorrow",
      "never",
    ]),
  );
});

test("the TTL deleter works at the second that it is given", async () => {
  const { table, client } = await startedTable();
  await client.send(
    new PutCommand({ TableName: "records", Item: { messageId: "m-1", expiresAt: NOW_S + 100 } }),
  );

  const early = await table.deleteExpired(NOW_S + 100);
  const late = await table.deleteExpired(NOW_S + 101);

  expect([early, late]).toEqual([0, 1]);
});

test("an item is read as plain values of every type", async () => {
  const { table, client } = await startedTable();
  const Item = {
    messageId: "m-1",
    attempt: 3,
    live: true,
    gone: null,
    outcome: { kind: "declined", codes: ["a", 1] },
    tags: new Set(["x"]),
    numbers: new Set([1, 2]),
  };
  await client.send(new PutCommand({ TableName: "records", Item }));

  const item = await table.item("records", "m-1");
  const missing = await table.item("records", "m-2");

  expect(item).toEqual({ ...Item, tags: ["x"], numbers: [1, 2] });
  expect(missing).toBeUndefined();
});

test("all the items are read, also when they are more than one page", async () => {
  const { table, client } = await startedTable();
  const text = "x".repeat(300_000);
  const ids = ["a", "b", "c", "d", "e"];
  for (const messageId of ids) {
    await client.send(new PutCommand({ TableName: "records", Item: { messageId, text } }));
  }

  const items = await table.items("records");

  expect(new Set(items.map(({ messageId }) => messageId))).toEqual(new Set(ids));
});

test("the log tells each request's operation, table, message id, update and how it ended", async () => {
  const { table, client } = await startedTable();
  const claim = new PutCommand({
    TableName: "records",
    Item: { messageId: "m-1" },
    ConditionExpression: "attribute_not_exists(messageId)",
  });

  await client.send(claim);
  await failureOf(client.send(claim));
  await client.send(new GetCommand({ TableName: "records", Key: { messageId: "m-2" } }));
  await client.send(
    new UpdateCommand({
      TableName: "records",
      Key: { messageId: "m-1" },
      UpdateExpression: "SET attempt = :two",
      ExpressionAttributeValues: { ":two": 2 },
    }),
  );

  const seen = { table: "records", atMs: NOW_MS };
  expect(table.requests()).toEqual([
    { ...seen, operation: "PutItem", messageId: "m-1", result: "ok" },
    {
      ...seen,
      operation: "PutItem",
      messageId: "m-1",
      result: "ConditionalCheckFailedException",
    },
    { ...seen, operation: "GetItem", messageId: "m-2", result: "ok" },
    {
      ...seen,
      operation: "UpdateItem",
      messageId: "m-1",
      update: "SET attempt = :two",
      result: "ok",
    },
  ]);
  expect(table.counts()).toEqual({ PutItem: 2, GetItem: 1, UpdateItem: 1 });
  expect(table.connections()).toBe(1);
});

test("looking at a table is not logged", async () => {
  const { table } = await startedTable();

  await table.items("records");
  await table.item("records", "m-1");
  await table.deleteExpired();

  expect(table.requests()).toEqual([]);
});

test("a stopped server frees its port for the next one, which starts empty", async () => {
  const { table, client } = await startedTable();
  await client.send(new PutCommand({ TableName: "records", Item: HELD }));
  const { port } = table;
  await table.stop();

  const next = await startTable({ port });
  await next.createRecordsTable("records");
  const items = await next.items("records");
  await next.stop();

  expect(next.url).toBe(`http://127.0.0.1:${port}`);
  expect(items).toEqual([]);
});

test("a port that is taken is refused", async () => {
  const { table } = await startedTable();

  const failure = await failureOf(startTable({ port: table.port }));

  expect(failure["code"]).toBe("EADDRINUSE");
});

test("an operation that the table does not have is refused", async () => {
  const { table } = await startedTable();

  const response = await fetch(table.url, {
    method: "POST",
    headers: {
      "content-type": "application/x-amz-json-1.0",
      "x-amz-target": "DynamoDB_20120810.Nonsense",
    },
    body: "{}",
  });
  const broken = await fetch(table.url, { method: "POST", body: "not JSON" });

  expect(response.status).toBe(400);
  expect(await response.json()).toEqual({
    __type: "com.amazon.coral.service#UnknownOperationException",
  });
  expect(broken.status).toBe(400);
  expect(await broken.json()).toMatchObject({ __type: "SerializationException" });
});
