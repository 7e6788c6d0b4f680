import { expect, test } from "vitest";

import { classify } from "../../../lib/payments/record.ts";
import type { IdempotencyRecord } from "../../../lib/payments/record.ts";

const NOW = 1_795_953_600_000; // 2026-11-29T12:00:00Z
const ours = { owner: "owner-2", fingerprint: "print-a" };

const existing = (changes: Partial<IdempotencyRecord> = {}): IdempotencyRecord => ({
  messageId: "order-1",
  status: "IN_PROGRESS",
  owner: "owner-1",
  leaseExpiresAt: NOW + 1,
  attempt: 1,
  firstClaimedAt: NOW - 60_000,
  fingerprint: "print-a",
  expiresAt: 1_798_977_600,
  ...changes,
});

test("a claim is in progress until the very end of its lease, and expired from then on", () => {
  expect(classify(existing({ leaseExpiresAt: NOW + 1 }), ours, NOW)).toEqual({
    kind: "in_progress",
    leaseExpiresAt: 1_795_953_600_001,
  });
  expect(classify(existing({ leaseExpiresAt: NOW }), ours, NOW)).toEqual({ kind: "expired" });
  expect(classify(existing({ leaseExpiresAt: 0 }), ours, NOW)).toEqual({ kind: "expired" });
});

test("a record under our own owner is our own put, whatever it says", () => {
  const record = existing({ owner: "owner-2", fingerprint: "print-b" });

  expect(classify(record, ours, NOW)).toEqual({ kind: "ours" });
});

test("another payment is a conflict, whether it is completed, in progress or expired", () => {
  const outcome = { result: "succeeded", paymentIntentId: "pi_1" } as const;
  for (const state of [{ outcome }, {}, { leaseExpiresAt: 0 }]) {
    expect(classify(existing({ fingerprint: "print-b", ...state }), ours, NOW)).toEqual({
      kind: "conflict",
    });
  }
});

test("an outcome is a duplicate, even in a record that has expired", () => {
  const outcome = { result: "declined", code: "card_declined" } as const;

  expect(classify(existing({ outcome, expiresAt: 1 }), ours, NOW)).toEqual({
    kind: "duplicate",
    outcome: { result: "declined", code: "card_declined" },
  });
});
