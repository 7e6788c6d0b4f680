// What only the table's faults do; what any server's do is in http-server.test.ts.

import { GetCommand, PutCommand, TransactWriteCommand } from "@aws-sdk/lib-dynamodb";
import { expect, test } from "vitest";

import { failureOf, startedTable, tableClient } from "./aws-fixture.ts";

const TableName = "records";
const put = (owner = "a", messageId = "m-1") =>
  new PutCommand({
    TableName,
    Item: { messageId, owner },
    ConditionExpression: "attribute_not_exists(messageId)",
    ReturnValuesOnConditionCheckFailure: "ALL_OLD",
  });

test("the log distinguishes what was dropped from what was applied", async () => {
  const { table, client } = await startedTable();
  table.faults.add({ operation: "PutItem" }, { kind: "dropBefore" });
  table.faults.add({ messageId: "m-1" }, { kind: "dropAfter" });

  await failureOf(client.send(put()));
  await failureOf(client.send(put()));

  expect(table.requests().map(({ result }) => result)).toEqual(["dropped", "ok"]);
  expect(await table.items(TableName)).toEqual([{ messageId: "m-1", owner: "a" }]);
});

test.for([
  { status: 500, code: "InternalServerError" },
  { status: 400, code: "ProvisionedThroughputExceededException" },
  { status: 400, code: "ThrottlingException" },
])("a request refused with $code is not applied, and the SDK tries again", async (refusal) => {
  const { table, client } = await startedTable();
  const fault = { kind: "refuse", message: "Not now.", ...refusal } as const;
  table.faults.add({ times: 2 }, fault);

  const failure = await failureOf(client.send(put()));
  await tableClient(table.url, { maxAttempts: 2 }).send(put("b"));

  expect(failure).toMatchObject({
    name: refusal.code,
    message: "Not now.",
    $metadata: { httpStatusCode: refusal.status },
  });
  expect(table.requests().map(({ result }) => result)).toEqual([refusal.code, refusal.code, "ok"]);
  expect(await table.items(TableName)).toEqual([{ messageId: "m-1", owner: "b" }]);
});

test("a conflict with another transaction fails the writes of its item, and no read", async () => {
  const { table, client } = await startedTable();
  const transact = new TransactWriteCommand({
    TransactItems: ["m-1", "m-2"].map((messageId) => ({ Put: { TableName, Item: { messageId } } })),
  });
  const fault = table.faults.add({ times: Infinity }, { kind: "conflict", key: "m-2" });

  await client.send(put("a", "m-1"));
  const single = await failureOf(client.send(put("a", "m-2")));
  const transaction = await failureOf(client.send(transact));
  await client.send(new GetCommand({ TableName, Key: { messageId: "m-2" } }));
  const items = await table.items(TableName);
  fault.remove();
  await client.send(transact);

  expect(single).toMatchObject({
    name: "TransactionConflictException",
    message: "Transaction is ongoing for the item",
  });
  expect(transaction["CancellationReasons"]).toEqual([
    { Code: "None" },
    { Code: "TransactionConflict", Message: "Transaction is ongoing for the item" },
  ]);
  expect(items).toEqual([{ messageId: "m-1", owner: "a" }]);
  expect(await table.items(TableName)).toHaveLength(2);
});
