// A claim as it is recorded, but for what a test changes.

import type { IdempotencyRecord } from "../../lib/payments/record.ts";

export const claimed = (changes: Partial<IdempotencyRecord> = {}): IdempotencyRecord => ({
  messageId: "order-1",
  status: "IN_PROGRESS",
  owner: "owner-1",
  leaseExpiresAt: 0,
  attempt: 1,
  firstClaimedAt: 0,
  fingerprint: "f",
  expiresAt: 1_799_000_000,
  ...changes,
});
