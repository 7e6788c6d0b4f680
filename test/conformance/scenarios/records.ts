// The worker's four writes, by its own code, on whatever stands for DynamoDB.

import type { DynamoDBDocumentClient } from "@aws-sdk/lib-dynamodb";
import { DeleteCommand, PutCommand } from "@aws-sdk/lib-dynamodb";
import { expect } from "vitest";

import { recordsTable } from "../../../lib/aws/records-table.ts";
import type { IdempotencyRecord, Outcome } from "../../../lib/payments/record.ts";
import { documentedBy } from "../conform.ts";
import { item } from "./table.ts";
import type { TableSubject } from "./table.ts";

const CONDITIONS =
  "https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Expressions.ConditionExpressions.html";
const TIMEOUT_MS = 10_000;

const record = (
  messageId: string,
  changes: Partial<IdempotencyRecord> = {},
): IdempotencyRecord => ({
  messageId,
  status: "IN_PROGRESS",
  owner: "first",
  leaseExpiresAt: 1_795_980_800_000,
  attempt: 1,
  firstClaimedAt: 1_795_980_729_855,
  fingerprint: "f".repeat(64),
  expiresAt: 1_799_004_730,
  ...changes,
});

const second = (messageId: string) => ({
  messageId,
  owner: "second",
  attempt: 2,
  leaseExpiresAt: 1_795_980_900_000,
  firstClaimedAt: 1_795_980_729_855,
});

const recordsOf = ({ client, tableName }: TableSubject) =>
  recordsTable(client as DynamoDBDocumentClient, tableName);

async function claimed(table: TableSubject, id: string, changes?: Partial<IdempotencyRecord>) {
  const records = recordsOf(table);
  const claim = record(id, changes);
  await records.claim(claim, TIMEOUT_MS);
  return { records, claim };
}

const SUCCEEDED: Outcome = { result: "succeeded", paymentIntentId: "pi_1" };
const COMPLETION = { outcome: SUCCEEDED, completedAt: 1_795_980_731_000 };
const COMPLETED = {
  status: "COMPLETED",
  outcome: SUCCEEDED,
  completedAt: 1_795_980_731_000,
  revision: 1,
} as const;
const UNAVAILABLE = { kind: "stripe_unavailable" as const, code: "timeout", requestId: "req_1" };

export const recordScenarios = documentedBy<TableSubject>(CONDITIONS, {
  async "the first claim is written as it is, and every later one finds it"(table) {
    const records = recordsOf(table);
    const first = record("claim-1");

    expect(await records.claim(first, TIMEOUT_MS)).toBeUndefined();
    expect(await records.claim(record("claim-1", { owner: "second" }), TIMEOUT_MS)).toEqual(first);
    // The SDK sent a put again whose reply was lost: its own owner is what it finds.
    expect(await records.claim(first, TIMEOUT_MS)).toEqual(first);
    expect(await item(table, "claim-1")).toEqual(first);
  },

  async "a takeover changes owner, lease and attempt, and keeps when the first claim was"(table) {
    const { records, claim: seen } = await claimed(table, "takeover-1");

    const standing = await records.takeOver(seen, second("takeover-1"), TIMEOUT_MS);

    expect(standing).toBeUndefined();
    expect(await item(table, "takeover-1")).toEqual(
      record("takeover-1", {
        owner: "second",
        attempt: 2,
        leaseExpiresAt: 1_795_980_900_000,
      }),
    );
  },

  async "a takeover of what another has taken over answers with the other's record"(table) {
    const { records, claim: seen } = await claimed(table, "takeover-2");
    await records.takeOver(seen, second("takeover-2"), TIMEOUT_MS);

    const third = { ...second("takeover-2"), owner: "third" };

    expect(await records.takeOver(seen, third, TIMEOUT_MS)).toMatchObject({
      owner: "second",
      attempt: 2,
      leaseExpiresAt: 1_795_980_900_000,
    });
  },

  async "a takeover of what was completed meanwhile answers with its outcome"(table) {
    const { records, claim: seen } = await claimed(table, "takeover-3");
    await records.complete(seen, COMPLETION, TIMEOUT_MS);

    expect(await records.takeOver(seen, second("takeover-3"), TIMEOUT_MS)).toMatchObject({
      owner: "first",
      status: "COMPLETED",
      outcome: SUCCEEDED,
    });
  },

  async "a takeover of a record that the TTL deleted meanwhile fails, and makes no new record"(
    table,
  ) {
    const { records, claim: seen } = await claimed(table, "takeover-4");
    await table.client.send(
      new DeleteCommand({ TableName: table.tableName, Key: { messageId: "takeover-4" } }),
    );

    await expect(records.takeOver(seen, second("takeover-4"), TIMEOUT_MS)).rejects.toMatchObject({
      name: "TableError",
      code: "RecordVanished",
    });
    expect(await item(table, "takeover-4")).toBeUndefined();
  },

  async "of many takeovers at once exactly one is written"(table) {
    const { records, claim: seen } = await claimed(table, "takeover-5");
    const rivals = Array.from({ length: 10 }, (_, i) => ({
      ...second("takeover-5"),
      owner: `rival-${i}`,
    }));

    const standing = await Promise.all(
      rivals.map((rival) => records.takeOver(seen, rival, TIMEOUT_MS)),
    );

    expect(standing.filter((other) => other === undefined)).toHaveLength(1);
  },

  async "completing records the outcome, may be repeated, and clears the last error"(table) {
    const { records, claim } = await claimed(table, "complete-1", { lastError: UNAVAILABLE });

    expect(await records.complete(claim, COMPLETION, TIMEOUT_MS)).toBe(true);
    expect(await records.complete(claim, COMPLETION, TIMEOUT_MS)).toBe(true);
    expect(await item(table, "complete-1")).toEqual(record("complete-1", COMPLETED));
  },

  async "a worker that lost its lease cannot complete"(table) {
    const { records, claim: seen } = await claimed(table, "complete-2");
    await records.takeOver(seen, second("complete-2"), TIMEOUT_MS);

    expect(await records.complete(seen, COMPLETION, TIMEOUT_MS)).toBe(false);
    expect(await item(table, "complete-2")).toMatchObject({ status: "IN_PROGRESS" });
  },

  async "a late copy of a completion is done already, and does not undo what moved on since"(
    table,
  ) {
    const { records, claim } = await claimed(table, "complete-4");
    const processing = { outcome: { result: "processing", paymentIntentId: "pi_1" } as const };
    await records.complete(claim, { ...COMPLETION, ...processing }, TIMEOUT_MS);
    const moved = record("complete-4", { ...COMPLETED, revision: 2 });
    await table.client.send(new PutCommand({ TableName: table.tableName, Item: moved }));

    const late = records.complete(claim, { ...COMPLETION, ...processing }, TIMEOUT_MS);

    expect(await late).toBe(true);
    expect(await item(table, "complete-4")).toEqual(moved);
  },

  async "completing a record that is not there makes none"(table) {
    const records = recordsOf(table);

    expect(await records.complete(record("complete-3"), COMPLETION, TIMEOUT_MS)).toBe(false);
    expect(await item(table, "complete-3")).toBeUndefined();
  },

  async "every kind of outcome comes back as it was recorded"(table) {
    const records = recordsOf(table);
    const outcomes: Outcome[] = [
      SUCCEEDED,
      { result: "processing", paymentIntentId: "pi_2" },
      { result: "requires_action", paymentIntentId: "pi_3" },
      {
        result: "declined",
        code: "card_declined",
        declineCode: "lost_card",
        paymentIntentId: "pi_4",
      },
      { result: "declined", code: "expired_card" },
      { result: "canceled", paymentIntentId: "pi_5" },
    ];

    for (const [i, outcome] of outcomes.entries()) {
      const claim = record(`outcome-${i}`);
      await records.claim(claim, TIMEOUT_MS);
      await records.complete(claim, { outcome, completedAt: 1_795_980_731_000 }, TIMEOUT_MS);
      const standing = await records.claim(record(`outcome-${i}`, { owner: "x" }), TIMEOUT_MS);
      expect(standing?.outcome).toEqual(outcome);
    }
  },

  async "releasing sets the lease to expired, keeps the first claim and says why"(table) {
    const { records, claim } = await claimed(table, "release-1");

    await records.release(claim, UNAVAILABLE, TIMEOUT_MS);

    expect(await item(table, "release-1")).toEqual(
      record("release-1", { leaseExpiresAt: 0, lastError: UNAVAILABLE }),
    );
  },

  async "releasing touches neither another owner's claim nor an outcome nor what is not there"(
    table,
  ) {
    const { records, claim: lost } = await claimed(table, "release-2");
    await records.takeOver(lost, second("release-2"), TIMEOUT_MS);
    const { claim: done } = await claimed(table, "release-3");
    await records.complete(done, COMPLETION, TIMEOUT_MS);

    for (const claim of [lost, done, record("release-4")]) {
      await records.release(claim, UNAVAILABLE, TIMEOUT_MS);
    }

    expect(await item(table, "release-2")).toMatchObject({
      owner: "second",
      leaseExpiresAt: 1_795_980_900_000,
    });
    expect(await item(table, "release-3")).toEqual({
      ...done,
      ...COMPLETED,
    });
    expect(await item(table, "release-4")).toBeUndefined();
  },
});
