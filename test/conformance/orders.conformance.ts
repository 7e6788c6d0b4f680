// The orders table and its transactions, on a DynamoDB that nobody here wrote. Not on moto: a transaction
// that it cancels takes back what others have written meanwhile.

import { GetCommand, PutCommand, ScanCommand } from "@aws-sdk/lib-dynamodb";
import type { DynamoDBDocumentClient } from "@aws-sdk/lib-dynamodb";
import { expect, onTestFinished, test } from "vitest";

import { ordersTable } from "../../lib/aws/orders-table.ts";
import { fulfill } from "../../lib/orders/fulfill.ts";
import { ORDER, PAID } from "../support/orders.ts";
import { startMinistack } from "./servers/aws.ts";
import { createRecordsTable } from "./servers/clients.ts";

test("twenty deliveries of an event at once ship the order once", async () => {
  const server = await startMinistack();
  onTestFinished(() => server.stop());
  const { client, tableName: TableName } = await createRecordsTable(server.url, "orders", {
    AttributeDefinitions: [{ AttributeName: "pk", AttributeType: "S" }],
    KeySchema: [{ AttributeName: "pk", KeyType: "HASH" }],
  });
  for (const Item of [
    { pk: "sku#tea", sku: "tea", onHand: 5 },
    { pk: "order#order-1", ...ORDER },
  ]) {
    await client.send(new PutCommand({ TableName, Item }));
  }
  const orders = ordersTable(client as DynamoDBDocumentClient, TableName, {
    eventTtlMs: 35 * 86_400_000,
    timeoutMs: 10_000,
    now: Date.now,
  });

  const results = await Promise.all(Array.from({ length: 20 }, () => fulfill(PAID, orders)));

  expect(results.filter(({ decision }) => decision === "applied")).toEqual([
    { decision: "applied", effect: "shipped" },
  ]);
  expect(await fulfill(PAID, orders)).toEqual({ decision: "duplicate" });
  const { Item: stock } = await client.send(
    new GetCommand({ TableName, Key: { pk: "sku#tea" }, ConsistentRead: true }),
  );
  expect(stock).toMatchObject({ onHand: 3 });
  const { Items = [] } = await client.send(new ScanCommand({ TableName, ConsistentRead: true }));
  expect(Items.map(({ pk }) => String(pk)).toSorted((a, b) => (a < b ? -1 : 1))).toEqual([
    "event#urn%3Apayment-worker%3Atest#order-1:1",
    "ledger#order-1#1#credit",
    "ledger#order-1#1#debit",
    "order#order-1",
    "shipment#order-1",
    "sku#tea",
  ]);
});
