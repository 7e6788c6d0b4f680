// Settling against workers that come to the same message.
import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { DynamoDBDocumentClient, PutCommand } from "@aws-sdk/lib-dynamodb";
import { Stripe } from "stripe";
import { expect, onTestFinished, test } from "vitest";

import { repair } from "../../cli/reconcile/repair.ts";
import { verify } from "../../cli/reconcile/verify.ts";
import { recordsTable } from "../../lib/aws/records-table.ts";
import type { IdempotencyRecord } from "../../lib/payments/record.ts";
import { startStripe } from "../../local/stripe/server.ts";
import { startTable } from "../../local/table/server.ts";

const NOW = Date.parse("2026-11-29T12:00:00Z");
const TTL_MS = 35 * 24 * 60 * 60 * 1_000;

const EXPIRED: IdempotencyRecord = {
  messageId: "order-1",
  status: "IN_PROGRESS",
  owner: "dead",
  leaseExpiresAt: NOW - 1,
  attempt: 3,
  firstClaimedAt: NOW - 60_000,
  fingerprint: "f",
  expiresAt: 1_799_000_000,
};

/** A table, and a Stripe that has charged order-1. */
async function prepare(record?: IdempotencyRecord) {
  const now = () => NOW;
  const [server, stripeServer] = await Promise.all([startTable({ now }), startStripe({ now })]);
  await server.createRecordsTable("records");
  const table = DynamoDBDocumentClient.from(
    new DynamoDBClient({
      endpoint: server.url,
      region: "us-east-1",
      credentials: { accessKeyId: "local", secretAccessKey: "local" },
    }),
  );
  onTestFinished(async () => {
    table.destroy();
    await Promise.all([server.stop(), stripeServer.stop()]);
  });
  const put = (item: IdempotencyRecord) =>
    table.send(new PutCommand({ TableName: "records", Item: item }));
  if (record) await put(record);
  const stripe = new Stripe("sk_test_local", {
    protocol: "http",
    host: "127.0.0.1",
    port: stripeServer.port,
  });
  const intent = await stripe.paymentIntents.create({
    amount: 1250,
    currency: "eur",
    customer: "cus_ada",
    payment_method: "pm_card_visa",
    confirm: true,
    off_session: true,
    metadata: { message_id: "order-1" },
  });
  const sources = {
    table,
    tableName: "records",
    stripe,
    pace: <T>(call: () => Promise<T>) => call(),
  };
  const suspicion = {
    messageId: "order-1",
    kind: "not_recorded" as const,
    paymentIntentIds: [intent.id],
  };
  const find = async () => {
    const [found] = await verify([suspicion], sources, now);
    if (!found) throw new Error("There was nothing to repair.");
    return found;
  };
  return {
    put,
    intent,
    find,
    verify: () => verify([suspicion], sources, now),
    records: recordsTable(table, "records"),
    stored: () => server.item("records", "order-1"),
  };
}

test("repairing takes over exactly the claim that was seen, and completes it", async () => {
  const { find, records, stored, intent } = await prepare(EXPIRED);

  const repaired = await repair(await find(), records, TTL_MS, NOW);

  expect(repaired).toEqual({
    messageId: "order-1",
    recorded: true,
    sentence: `recorded as succeeded, ${intent.id}`,
  });
  expect(await stored()).toEqual({
    messageId: "order-1",
    status: "COMPLETED",
    owner: expect.stringMatching(/^reconciliation-/) as string,
    leaseExpiresAt: 1_795_953_630_000,
    attempt: 4,
    firstClaimedAt: 1_795_953_540_000,
    fingerprint: "f",
    expiresAt: 1_799_000_000,
    outcome: { result: "succeeded", paymentIntentId: intent.id },
  });
});

test("repairing writes nothing when a worker has taken the claim over meanwhile", async () => {
  const { find, records, put, stored } = await prepare(EXPIRED);
  const seen = await find();
  const working = { ...EXPIRED, owner: "worker", leaseExpiresAt: NOW + 10_000, attempt: 4 };
  await put(working);

  const repaired = await repair(seen, records, TTL_MS, NOW);

  expect(repaired).toMatchObject({ recorded: false });
  expect(await stored()).toEqual(working);
});

test("repairing writes nothing when a worker has put a record meanwhile", async () => {
  const { find, records, put, stored } = await prepare();
  const seen = await find();
  await put(EXPIRED);

  const repaired = await repair(seen, records, TTL_MS, NOW);

  expect(repaired).toMatchObject({ recorded: false });
  expect(await stored()).toEqual(EXPIRED);
});

test("a record that is put has the fingerprint of what was charged, and outlives every redelivery", async () => {
  const { find, records, stored, intent } = await prepare();
  const found = await find();
  // As Stripe answers outside of its test names: the payment method that was sent.
  const sent = { ...found, intent: { ...intent, payment_method: "pm_visa" } };

  await repair(sent, records, TTL_MS, NOW);

  expect(await stored()).toMatchObject({
    status: "COMPLETED",
    leaseExpiresAt: 0,
    firstClaimedAt: 1_795_953_600_000,
    // SHA-256 of {"amount":1250,"confirm":true,"currency":"eur","customer":"cus_ada",
    // "metadata":{"message_id":"order-1"},"off_session":true,"payment_method":"pm_visa"}
    fingerprint: "e145a68377de01721e053a3ebf8347dc9e979d82168868bb4cf3344923c7dc7c",
    expiresAt: 1_798_977_600,
  });
});

test("a claim that a worker holds is no finding, however suspicious it looked", async () => {
  const { verify } = await prepare({ ...EXPIRED, leaseExpiresAt: NOW + 1 });

  expect(await verify()).toEqual([]);
});

test("what a worker has recorded meanwhile is no finding any more", async () => {
  const { verify, put, intent } = await prepare();
  await put({
    ...EXPIRED,
    status: "COMPLETED",
    outcome: { result: "succeeded", paymentIntentId: intent.id },
  });

  expect(await verify()).toEqual([]);
});
