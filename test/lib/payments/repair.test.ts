// Repairing against workers that come to the same message.
import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { DynamoDBDocumentClient, PutCommand } from "@aws-sdk/lib-dynamodb";
import { expect, onTestFinished, test } from "vitest";

import { recordsTable } from "../../../lib/aws/records-table.ts";
import type { IdempotencyRecord } from "../../../lib/payments/record.ts";
import { repair } from "../../../lib/payments/repair.ts";
import type { Charged } from "../../../lib/payments/repair.ts";
import { startTable } from "../../../local/table/server.ts";
import { claimed } from "../../support/record.ts";

const NOW = Date.parse("2026-11-29T12:00:00Z");

const EXPIRED = claimed({ leaseExpiresAt: NOW, attempt: 3, firstClaimedAt: NOW - 60_000 });
const PAID = { result: "succeeded", paymentIntentId: "pi_1" } as const;
const CHARGED: Charged = {
  outcome: PAID,
  params: {
    amount: 1250,
    currency: "eur",
    customer: "cus_ada",
    payment_method: "pm_visa",
    confirm: true,
    off_session: true,
    metadata: { message_id: "order-1" },
  },
  createdAt: NOW - 50_000,
};

async function prepare(record?: IdempotencyRecord) {
  const server = await startTable({ now: () => NOW });
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
    await server.stop();
  });
  const put = (item: IdempotencyRecord) =>
    table.send(new PutCommand({ TableName: "records", Item: item }));
  if (record) await put(record);
  const records = recordsTable(table, "records");
  const deps = { records, recordTtlMs: 3_024_000_000, now: () => NOW, newOwner: () => "repairer" };
  return {
    put,
    records,
    stored: () => server.item("records", "order-1"),
    repair: (seen: IdempotencyRecord | undefined, changes: Partial<typeof deps> = {}) =>
      repair("order-1", seen, CHARGED, { ...deps, ...changes }),
  };
}

test("an expired claim is taken over as it was seen, and completed", async () => {
  const { repair, stored } = await prepare(EXPIRED);

  expect(await repair(EXPIRED)).toBe(true);

  expect(await stored()).toMatchObject({
    ...EXPIRED,
    status: "COMPLETED",
    owner: "repairer",
    leaseExpiresAt: 1_795_953_630_000,
    attempt: 4,
    outcome: PAID,
  });
});

test.each<[string, IdempotencyRecord]>([
  ["has a live lease", { ...EXPIRED, leaseExpiresAt: NOW + 1 }],
  ["has an outcome", { ...EXPIRED, status: "COMPLETED", outcome: PAID }],
])("a record that %s is left alone", async (_, record) => {
  const { repair, stored } = await prepare(record);

  expect(await repair(record)).toBe(false);

  expect(await stored()).toEqual(record);
});

test("nothing is written when a worker has taken the claim over meanwhile", async () => {
  const { repair, records, put, stored } = await prepare(EXPIRED);
  const working = { ...EXPIRED, owner: "worker", leaseExpiresAt: NOW + 10_000, attempt: 4 };
  await put(working);
  const complete = () => Promise.reject(new Error("It completes what it has not taken over."));

  expect(await repair(EXPIRED, { records: { ...records, complete } })).toBe(false);

  expect(await stored()).toEqual(working);
});

test("nothing is reported as recorded when a worker takes over between the two writes", async () => {
  const { repair, records, put, stored } = await prepare(EXPIRED);
  const working = { ...EXPIRED, owner: "worker", leaseExpiresAt: NOW + 90_000, attempt: 5 };
  const raced: typeof records = {
    ...records,
    async takeOver(...args) {
      const standing = await records.takeOver(...args);
      await put(working);
      return standing;
    },
  };

  expect(await repair(EXPIRED, { records: raced })).toBe(false);

  expect(await stored()).toEqual(working);
});

test("without a record, one is put that makes a redelivery a duplicate and outlives every one", async () => {
  const { repair, stored } = await prepare();

  expect(await repair(undefined)).toBe(true);

  expect(await stored()).toMatchObject({
    messageId: "order-1",
    status: "COMPLETED",
    owner: "repairer",
    leaseExpiresAt: 0,
    attempt: 1,
    firstClaimedAt: 1_795_953_550_000,
    // SHA-256 of {"amount":1250,"confirm":true,"currency":"eur","customer":"cus_ada",
    // "metadata":{"message_id":"order-1"},"off_session":true,"payment_method":"pm_visa"}
    fingerprint: "e145a68377de01721e053a3ebf8347dc9e979d82168868bb4cf3344923c7dc7c",
    outcome: PAID,
    expiresAt: 1_798_977_600, // 35 days later
  });
});

test("nothing is written when a worker has put a record meanwhile", async () => {
  const { repair, put, stored } = await prepare();
  await put(EXPIRED);

  expect(await repair(undefined)).toBe(false);

  expect(await stored()).toEqual(EXPIRED);
});
