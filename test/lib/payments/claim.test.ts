import { expect, test } from "vitest";

import type { ChargeParams } from "../../../lib/payments/charge.ts";
import { acquire, TableError } from "../../../lib/payments/claim.ts";
import type { Claim, ClaimDeps, Records } from "../../../lib/payments/claim.ts";
import type { IdempotencyRecord } from "../../../lib/payments/record.ts";
import { createDeadline } from "../../../lib/timing/deadline.ts";
import { WORKER_TIMINGS } from "../../support/timings.ts";

const NOW = 1_795_953_600_000; // 2026-11-29T12:00:00Z
const HOUR = 3_600_000;

const PARAMS = { amount: 1200, currency: "eur" } as ChargeParams;

const expired: IdempotencyRecord = {
  messageId: "order-1",
  status: "IN_PROGRESS",
  owner: "owner-1",
  leaseExpiresAt: 0,
  attempt: 3,
  firstClaimedAt: NOW - HOUR,
  fingerprint: "print-a",
  expiresAt: 1_798_973_000,
};

/** A table whose answers are given, and which remembers what it was asked. */
function table(answers: {
  put?: IdempotencyRecord | undefined;
  takeover?: IdempotencyRecord | undefined;
}) {
  const puts: { record: IdempotencyRecord; timeoutMs: number }[] = [];
  const takeovers: { seen: IdempotencyRecord; claim: Claim; timeoutMs: number }[] = [];
  const records: Records = {
    async claim(record, timeoutMs) {
      puts.push({ record, timeoutMs });
      return answers.put;
    },
    async takeOver(seen, claim, timeoutMs) {
      takeovers.push({ seen, claim, timeoutMs });
      return answers.takeover;
    },
    complete: () => Promise.reject(new Error("not asked for")),
    release: () => Promise.reject(new Error("not asked for")),
  };
  const deps: ClaimDeps = {
    records,
    timings: WORKER_TIMINGS,
    now: () => NOW,
    newOwner: () => "owner-2",
  };
  return {
    puts,
    takeovers,
    acquire: (receiveCount = 1) =>
      acquire(
        { messageId: "order-1", fingerprint: "print-a", sentAt: NOW, params: PARAMS },
        receiveCount,
        deps,
        createDeadline(WORKER_TIMINGS, () => 60_000),
      ),
  };
}

test("a claim lasts for the rest of the invocation and the difference of clocks", async () => {
  const { acquire, puts } = table({});

  const acquired = await acquire();

  const record = {
    messageId: "order-1",
    status: "IN_PROGRESS",
    owner: "owner-2",
    fingerprint: "print-a",
    amount: 1200,
    currency: "eur",
    leaseExpiresAt: 1_795_953_665_000, // 60 s and 5 s later
    attempt: 1,
    firstClaimedAt: 1_795_953_600_000,
    expiresAt: 1_798_977_600, // 35 days later, in seconds
  };
  expect(acquired).toEqual({ kind: "acquired", claim: record, takeover: false });
  expect(puts).toEqual([{ record, timeoutMs: 3_000 }]);
});

test("a put that failed against itself is a claim, and no takeover", async () => {
  const { acquire, takeovers } = table({ put: { ...expired, owner: "owner-2" } });

  expect(await acquire()).toMatchObject({
    kind: "acquired",
    takeover: false,
    claim: { owner: "owner-2", attempt: 1, firstClaimedAt: 1_795_953_600_000 },
  });
  expect(takeovers).toEqual([]);
});

test("a takeover names what was seen, counts the attempt, and keeps the first claim's time", async () => {
  const { acquire, takeovers } = table({ put: expired });

  const acquired = await acquire();

  const claim = {
    messageId: "order-1",
    owner: "owner-2",
    leaseExpiresAt: 1_795_953_665_000,
    attempt: 4,
    firstClaimedAt: 1_795_950_000_000, // an hour before
  };
  expect(acquired).toEqual({ kind: "acquired", claim, takeover: true });
  expect(takeovers).toEqual([{ seen: expired, claim, timeoutMs: 3_000 }]);
});

test("a takeover that failed against itself is a takeover", async () => {
  const { acquire } = table({ put: expired, takeover: { ...expired, owner: "owner-2" } });

  expect(await acquire()).toMatchObject({
    kind: "acquired",
    takeover: true,
    claim: { owner: "owner-2", attempt: 4 },
  });
});

test("a rejection is not taken over again by a later receive, and is by the first", async () => {
  const rejected = {
    ...expired,
    lastError: { kind: "stripe_rejected", code: "resource_missing" },
  } as const;
  const later = table({ put: rejected });
  const redriven = table({ put: rejected });

  expect(await later.acquire(2)).toEqual({
    kind: "rejected",
    error: { kind: "stripe_rejected", code: "resource_missing" },
  });
  expect(later.takeovers).toEqual([]);
  expect(await redriven.acquire(1)).toMatchObject({ kind: "acquired", takeover: true });
});

test("a takeover that came second finds the claim in progress", async () => {
  const standing = { ...expired, owner: "owner-3", leaseExpiresAt: NOW + 65_000 };
  const { acquire } = table({ put: expired, takeover: standing });

  expect(await acquire()).toEqual({ kind: "in_progress", leaseExpiresAt: 1_795_953_665_000 });
});

test("a takeover that finds the claim taken and released again comes back at once", async () => {
  const { acquire } = table({ put: expired, takeover: { ...expired, owner: "owner-3" } });

  expect(await acquire()).toEqual({ kind: "in_progress", leaseExpiresAt: 1_795_953_600_000 });
});

test("a takeover that came after the outcome finds a duplicate", async () => {
  const outcome = { result: "succeeded", paymentIntentId: "pi_1" } as const;
  const standing: IdempotencyRecord = {
    ...expired,
    owner: "owner-3",
    status: "COMPLETED",
    outcome,
  };
  const { acquire } = table({ put: expired, takeover: standing });

  expect(await acquire()).toEqual({
    kind: "duplicate",
    outcome: { result: "succeeded", paymentIntentId: "pi_1" },
  });
});

test("a table's error says what DynamoDB said, and keeps the cause", () => {
  const cause = new Error("slow down");

  const error = new TableError("ThrottlingException", cause);

  expect(error).toMatchObject({ name: "TableError", code: "ThrottlingException" });
  expect(error.message).toBe("DynamoDB did not answer: ThrottlingException");
  expect(error.cause).toBe(cause);
});
