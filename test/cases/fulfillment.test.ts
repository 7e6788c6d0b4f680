// The orders table, its transactions over HTTP: an order that is paid is shipped once.

import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { DynamoDBDocumentClient, PutCommand } from "@aws-sdk/lib-dynamodb";
import { expect, onTestFinished, test } from "vitest";

import { ordersTable } from "../../lib/aws/orders-table.ts";
import { fulfill } from "../../lib/orders/fulfill.ts";
import type { Fulfilled } from "../../lib/orders/fulfill.ts";
import type { PaymentOutcome } from "../../lib/orders/payment-outcome.ts";
import { startTable } from "../../local/table/server.ts";
import { ORDER as PENDING, PAID } from "../support/orders.ts";

const NOW = Date.parse("2026-11-30T12:00:00Z");

const ORDER = { pk: "order#order-1", ...PENDING };

/** A table with an order over 2 of 5 on hand by default. */
async function prepare({
  onHand = 5,
  orders = [ORDER],
}: { onHand?: number; orders?: object[] } = {}) {
  const table = await startTable({ now: () => NOW });
  onTestFinished(() => table.stop());
  table.createTable("orders", "pk", "expiresAt");
  const client = new DynamoDBClient({
    endpoint: table.url,
    region: "us-east-1",
    credentials: { accessKeyId: "local", secretAccessKey: "local" },
  });
  onTestFinished(() => client.destroy());
  const documents = DynamoDBDocumentClient.from(client);
  for (const Item of [{ pk: "sku#tea", sku: "tea", onHand }, ...orders]) {
    await documents.send(new PutCommand({ TableName: "orders", Item }));
  }
  const store = ordersTable(documents, "orders", {
    eventTtlMs: 35 * 86_400_000,
    timeoutMs: 5_000,
    now: () => NOW,
  });
  return {
    table,
    apply: (outcome: Partial<PaymentOutcome> = {}): Promise<Fulfilled> =>
      fulfill({ ...PAID, ...outcome }, store),
    item: (pk: string) => table.item("orders", pk),
    /** The keys of what is there beside the order and the stock. */
    made: async () =>
      (await table.items("orders"))
        .map(({ pk }) => String(pk))
        .filter((pk) => !/^(order|sku)#/.test(pk))
        .toSorted((a, b) => (a < b ? -1 : 1)),
  };
}

const EVERYTHING = [
  "event#urn%3Apayment-worker%3Atest#order-1:1",
  "ledger#order-1#1#credit",
  "ledger#order-1#1#debit",
  "shipment#order-1",
];

test("a paid order is shipped, its stock taken and two ledger lines booked, with the event's record", async () => {
  const { apply, item, made } = await prepare();
  expect(await apply()).toEqual({ decision: "applied", effect: "shipped" });
  expect(await made()).toEqual(EVERYTHING);
  expect(await item("order#order-1")).toMatchObject({
    status: "paid",
    paymentIntentId: "pi_1",
    fulfillment: "shipped",
  });
  expect(await item("sku#tea")).toMatchObject({ onHand: 3 });
  const lines = await Promise.all(
    ["debit", "credit"].map((side) => item(`ledger#order-1#1#${side}`)),
  );
  expect(lines).toMatchObject([
    { account: "stripe:clearing", side: "debit", amount: 1250, currency: "eur" },
    { account: "sales", side: "credit", amount: 1250, currency: "eur" },
  ]);
  expect(await item(EVERYTHING[0] ?? "")).toMatchObject({
    hash: "h1",
    expiresAt: NOW / 1_000 + 35 * 86_400,
  });
});

test("the event again is a duplicate, and twenty at once have one effect", async () => {
  const { apply, item, made } = await prepare();
  const results = await Promise.all(Array.from({ length: 20 }, () => apply()));
  const effects = results.filter(({ decision }) => decision === "applied");
  expect(effects).toHaveLength(1);
  // What is not the one that won is a duplicate, or lost against it and comes again.
  for (const { decision } of results)
    expect(["applied", "duplicate", "transient"]).toContain(decision);
  expect(await apply()).toEqual({ decision: "duplicate" });
  expect(await item("sku#tea")).toMatchObject({ onHand: 3 });
  expect(await made()).toEqual(EVERYTHING);
});

test("an order whose stock is short is paid and backordered, with its ledger lines and no shipment", async () => {
  const { apply, item, made } = await prepare({ onHand: 1 });
  expect(await apply()).toEqual({ decision: "applied", effect: "backordered" });
  expect(await item("order#order-1")).toMatchObject({ status: "paid", fulfillment: "backordered" });
  expect(await item("sku#tea")).toMatchObject({ onHand: 1 });
  expect(await made()).toEqual(EVERYTHING.slice(0, 3));
  expect(await apply()).toEqual({ decision: "duplicate" });
});

test("another amount changes nothing", async () => {
  const { apply, item, made } = await prepare();
  expect(await apply({ amount: 1200 })).toEqual({
    decision: "conflict",
    reason: "the order is over 1250 eur, the payment over 1200 eur",
  });
  expect(await made()).toEqual([]);
  expect(await item("order#order-1")).toMatchObject({ status: "pending" });
});

test("processing records the event and ships nothing; succeeded ships, whichever comes first", async () => {
  const early = { id: "order-1:1", result: "processing", hash: "h0" };
  const late = { id: "order-1:2", revision: 2 };
  const inOrder = await prepare();
  expect(await inOrder.apply(early)).toEqual({ decision: "applied", effect: "noted" });
  expect(await inOrder.made()).toEqual(["event#urn%3Apayment-worker%3Atest#order-1:1"]);
  expect(await inOrder.apply(late)).toEqual({ decision: "applied", effect: "shipped" });

  const swapped = await prepare();
  expect(await swapped.apply(late)).toEqual({ decision: "applied", effect: "shipped" });
  expect(await swapped.apply(early)).toEqual({ decision: "applied", effect: "noted" });
  expect(await swapped.item("sku#tea")).toMatchObject({ onHand: 3 });
});

test("an unpaid order is paid by a later success, and a paid one stays paid", async () => {
  const { apply, item } = await prepare();
  const failed = { result: "failed", hash: "h0" };
  expect(await apply(failed)).toEqual({ decision: "applied", effect: "unpaid" });
  expect(await item("order#order-1")).toMatchObject({ status: "unpaid" });
  const paid = { id: "order-1:2", revision: 2 };
  expect(await apply(paid)).toEqual({ decision: "applied", effect: "shipped" });
  const late = { ...failed, id: "order-1:3", revision: 3 };
  expect(await apply(late)).toEqual({ decision: "superseded" });
  expect(await item("order#order-1")).toMatchObject({ status: "paid" });
});

test("after the event's record expired, the order itself still prevents a second effect", async () => {
  const { table, apply, item } = await prepare();
  await apply();
  expect(await table.deleteExpired(NOW / 1_000 + 36 * 86_400)).toBe(1);
  expect(await apply()).toEqual({ decision: "duplicate" });
  expect(await item("sku#tea")).toMatchObject({ onHand: 3 });
});

test("a table that does not answer is an error: the transaction may have been applied", async () => {
  const { table, apply, made } = await prepare();
  const where = { operation: "TransactWriteItems", times: 10 };
  const fault = table.faults.add(where, { kind: "dropAfter" });
  await expect(apply()).rejects.toMatchObject({ name: expect.any(String) });
  fault.remove();
  expect(await apply()).toEqual({ decision: "duplicate" });
  expect(await made()).toEqual(EVERYTHING);
});

test("the same id from another source does not meet this one's record", async () => {
  const { apply, made } = await prepare();
  await apply({ source: "a#b", id: "c", result: "processing" });
  await apply({ source: "a", id: "b#c", result: "processing" });
  expect(await made()).toEqual(["event#a#b#c", "event#a%23b#c"]);
});

test("an event of an unknown order, and one that says something else under its id, touch nothing", async () => {
  const { apply, made } = await prepare();
  expect(await apply({ messageId: "order-2" })).toEqual({ decision: "unknown_order" });
  await apply({ result: "processing" });
  expect(await apply({ hash: "h2" })).toEqual({
    decision: "conflict",
    reason: "another event with this id says something else",
  });
  expect(await made()).toEqual(["event#urn%3Apayment-worker%3Atest#order-1:1"]);
});
