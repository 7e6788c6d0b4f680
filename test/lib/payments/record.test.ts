import { expect, test } from "vitest";

import { classify } from "../../../lib/payments/record.ts";
import type { IdempotencyRecord } from "../../../lib/payments/record.ts";
import { claimed } from "../../support/record.ts";

const NOW = 1_795_953_600_000; // 2026-11-29T12:00:00Z
const ours = { owner: "owner-2", fingerprint: "print-a", receiveCount: 2 };

const existing = (changes: Partial<IdempotencyRecord> = {}) =>
  claimed({ leaseExpiresAt: NOW + 1, fingerprint: "print-a", ...changes });

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

test("another payment is a conflict, whether it is completed, in progress, expired or rejected", () => {
  const outcome = { result: "succeeded", paymentIntentId: "pi_1" } as const;
  const lastError = { kind: "stripe_rejected" } as const;
  for (const state of [{ outcome }, {}, { leaseExpiresAt: 0 }, { leaseExpiresAt: 0, lastError }]) {
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

const REJECTED = { kind: "stripe_rejected", code: "resource_missing" } as const;

test.each<[string, Partial<IdempotencyRecord>, receiveCount: number, kind: string]>([
  ["released with a rejection, on a later receive", { lastError: REJECTED }, 2, "rejected"],
  ["released with a rejection, on a first receive", { lastError: REJECTED }, 1, "expired"],
  ["released with another error", { lastError: { kind: "stripe_unavailable" } }, 2, "expired"],
  ["released without an error", {}, 2, "expired"],
  // The attempt after the rejection died: what Stripe answered it, nobody knows.
  ["expired after a rejection", { lastError: REJECTED, leaseExpiresAt: 1 }, 2, "expired"],
  ["running after a rejection", { lastError: REJECTED, leaseExpiresAt: NOW + 1 }, 2, "in_progress"],
])("a claim that is %s", (_, changes, receiveCount, kind) => {
  const record = existing({ leaseExpiresAt: 0, ...changes });

  expect(classify(record, { ...ours, receiveCount }, NOW)).toMatchObject({ kind });
});

const DAMAGE: [attribute: string, changes: object][] = [
  ["status", { status: undefined }],
  ["status", { status: "PENDING" }],
  ["fingerprint", { fingerprint: undefined }],
  ["fingerprint", { fingerprint: "" }],
  ["fingerprint", { fingerprint: 7 }],
  ["outcome", { status: "COMPLETED" }],
  ["outcome", { status: "COMPLETED", outcome: {} }],
  ["outcome", { outcome: "succeeded" }],
  ["owner", { owner: undefined }],
  ["owner", { owner: "" }],
  ["owner", { owner: 7 }],
  ["leaseExpiresAt", { leaseExpiresAt: undefined }],
  ["leaseExpiresAt", { leaseExpiresAt: "0" }],
  ["leaseExpiresAt", { leaseExpiresAt: NaN }],
  ["leaseExpiresAt", { leaseExpiresAt: -1 }],
  ["attempt", { attempt: undefined }],
  ["firstClaimedAt", { firstClaimedAt: undefined }],
  ["firstClaimedAt", { firstClaimedAt: "yesterday" }],
];

test.each(DAMAGE)("a record whose %s is damaged is never taken over: %j", (attribute, changes) => {
  const record = existing({ leaseExpiresAt: 0, ...changes });

  expect(classify(record, ours, NOW)).toEqual({ kind: "damaged", attribute });
});

test("an outcome counts, whatever else of its record is damaged or from before an upgrade", () => {
  const outcome = { result: "succeeded", paymentIntentId: "pi_1" } as const;
  const damaged = { leaseExpiresAt: undefined, owner: undefined, attempt: undefined };
  const record = { ...existing({ status: "COMPLETED", outcome }), ...damaged };

  expect(classify(record as unknown as IdempotencyRecord, ours, NOW)).toMatchObject({
    kind: "duplicate",
  });
});
