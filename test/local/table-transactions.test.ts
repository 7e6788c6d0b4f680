// What the transactions of the local table do beyond the scenarios of test/conformance.

import { PutCommand, TransactWriteCommand } from "@aws-sdk/lib-dynamodb";
import type { TransactWriteCommandInput } from "@aws-sdk/lib-dynamodb";
import { expect, test } from "vitest";

import { failureOf, NOW_MS, startedTable } from "./aws-fixture.ts";

type Actions = NonNullable<TransactWriteCommandInput["TransactItems"]>;

const TableName = "orders";
const NEW = "attribute_not_exists(pk)";

/** A table of orders with one of stock 2, and what sells one to a buyer. */
async function shop() {
  const clock = { now: NOW_MS };
  const started = await startedTable({ now: () => clock.now });
  started.table.createTable(TableName, "pk", "expiresAt");
  await started.client.send(new PutCommand({ TableName, Item: { pk: "sku#1", onHand: 2 } }));
  const send = (TransactItems: Actions, ClientRequestToken?: string) =>
    started.client.send(new TransactWriteCommand({ TransactItems, ClientRequestToken }));
  const items = async () =>
    Object.fromEntries((await started.table.items(TableName)).map(({ pk, ...rest }) => [pk, rest]));
  return { ...started, clock, send, items };
}

const record = (id: string, hash = "h"): Actions[number] => ({
  Put: {
    TableName,
    Item: { pk: `event#${id}`, hash },
    ConditionExpression: NEW,
    ReturnValuesOnConditionCheckFailure: "ALL_OLD",
  },
});

const takeStock = (count: number): Actions[number] => ({
  Update: {
    TableName,
    Key: { pk: "sku#1" },
    UpdateExpression: "SET onHand = onHand - :n",
    ConditionExpression: "onHand >= :n",
    ExpressionAttributeValues: { ":n": count },
    ReturnValuesOnConditionCheckFailure: "ALL_OLD",
  },
});

test("an update that the item does not allow cancels the transaction as a validation error", async () => {
  const { send, items } = await shop();
  const broken: Actions[number] = {
    Update: { TableName, Key: { pk: "sku#1" }, UpdateExpression: "SET price = absent" },
  };

  const failure = await failureOf(send([record("1"), broken]));

  expect(failure["CancellationReasons"]).toMatchObject([
    { Code: "None" },
    {
      Code: "ValidationError",
      Message: "The provided expression refers to an attribute that does not exist in the item",
    },
  ]);
  expect(await items()).toEqual({ "sku#1": { onHand: 2 } });
});

test("a token makes a repeat within ten minutes a success that writes nothing", async () => {
  const { send, items, clock } = await shop();
  await send([takeStock(1)], "token");

  await send([takeStock(1)], "token");
  const repeated = await items();
  clock.now += 10 * 60_000;
  await send([takeStock(1)], "token");

  expect(repeated).toEqual({ "sku#1": { onHand: 1 } });
  expect(await items()).toEqual({ "sku#1": { onHand: 0 } });
});

test("a token of a canceled transaction is free for the next try", async () => {
  const { send, items, client } = await shop();
  await failureOf(send([takeStock(3)], "token"));
  await client.send(new PutCommand({ TableName, Item: { pk: "sku#1", onHand: 3 } }));

  await send([takeStock(3)], "token");

  expect(await items()).toEqual({ "sku#1": { onHand: 0 } });
});

test.each([
  ["no action", [], "Member must have length greater than or equal to 1"],
  [
    "101 actions",
    Array.from({ length: 101 }, (_, i) => record(`${i}`)),
    "Member must have length less than or equal to 100",
  ],
  [
    "an action that is none",
    [{}],
    "TransactItems can only contain one of Check, Put, Update or Delete",
  ],
] satisfies [string, Actions, string][])(
  "a transaction of %s is invalid",
  async (_name, actions, message) => {
    const { send, items } = await shop();

    const failure = await failureOf(send(actions));

    expect(failure.name).toBe("ValidationException");
    expect(failure.message).toContain(message);
    expect(await items()).toEqual({ "sku#1": { onHand: 2 } });
  },
);
