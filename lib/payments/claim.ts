// Claiming a message: one put, no read before it; what the put finds instead decides.

import type { Deadline } from "../timing/deadline.ts";
import type { WorkerTimings } from "../timing/payments.ts";
import type { ChargeRequest } from "./charge.ts";
import { classify } from "./record.ts";
import type { AttemptError, IdempotencyRecord, Classification, Outcome } from "./record.ts";

/** A claim that is ours. */
export type Claim = Pick<
  IdempotencyRecord,
  "messageId" | "owner" | "attempt" | "firstClaimedAt" | "leaseExpiresAt"
>;

/** `completedAt` is in epoch ms. */
export type Completion = { outcome: Outcome; completedAt: number };

/** The table. Every method throws `TableError` when the table did not answer in time. */
export interface Records {
  /** Puts the record unless one is there; answers with the one that is. */
  claim(record: IdempotencyRecord, timeoutMs: number): Promise<IdempotencyRecord | undefined>;
  /** Replaces the record if it is unchanged since `seen`; otherwise answers with the current one. */
  takeOver(
    seen: IdempotencyRecord,
    claim: Claim,
    timeoutMs: number,
  ): Promise<IdempotencyRecord | undefined>;
  /** Records the outcome, once; false when the claim is no longer ours. */
  complete(claim: Claim, completion: Completion, timeoutMs: number): Promise<boolean>;
  /** Ends the lease now, unless the claim is no longer ours. */
  release(claim: Claim, error: AttemptError, timeoutMs: number): Promise<void>;
}

export class TableError extends Error {
  override name = "TableError";
  readonly code: string;
  constructor(code: string, cause: unknown) {
    super(`DynamoDB did not answer: ${code}`, { cause });
    this.code = code;
  }
}

export type ClaimDeps = {
  records: Records;
  timings: WorkerTimings;
  /** Epoch ms. */
  now: () => number;
  newOwner: () => string;
};

export type Acquired =
  | { kind: "acquired"; claim: Claim; takeover: boolean }
  | Exclude<Classification, { kind: "ours" | "expired" }>;

/**
 * Claims a message, or takes an expired claim over, or says why neither can be.
 *
 * @throws TableError
 */
export async function acquire(
  { messageId, params, fingerprint }: ChargeRequest,
  receiveCount: number,
  { records, timings, now: clock, newOwner }: ClaimDeps,
  deadline: Deadline,
): Promise<Acquired> {
  const now = clock();
  const { amount, currency } = params;
  const ours = { owner: newOwner(), fingerprint, receiveCount };
  // The end of this invocation and the clocks' difference: no live worker outlasts its lease.
  const leaseExpiresAt = now + deadline.remainingMs() + timings.clockSkewMs;

  const record: IdempotencyRecord = {
    messageId,
    status: "IN_PROGRESS",
    owner: ours.owner,
    leaseExpiresAt,
    attempt: 1,
    firstClaimedAt: now,
    fingerprint,
    amount,
    currency,
    expiresAt: Math.ceil((now + timings.recordTtlMs) / 1_000),
  };
  const existing = await records.claim(record, deadline.tableCallMs());
  if (!existing) return { kind: "acquired", claim: record, takeover: false };

  const classification = classify(existing, ours, now);
  if (classification.kind === "ours") return { kind: "acquired", claim: record, takeover: false };
  if (classification.kind !== "expired") return classification;

  const claim: Claim = {
    messageId,
    owner: ours.owner,
    leaseExpiresAt,
    attempt: existing.attempt + 1,
    firstClaimedAt: existing.firstClaimedAt,
  };
  const standing = await records.takeOver(existing, claim, deadline.tableCallMs());
  if (!standing) return { kind: "acquired", claim, takeover: true };

  const second = classify(standing, ours, now);
  if (second.kind === "ours") return { kind: "acquired", claim, takeover: true };
  // Taken over and already released again by a third worker: its backoff is ours too.
  if (second.kind === "expired") return { kind: "in_progress", leaseExpiresAt: now };
  return second;
}
