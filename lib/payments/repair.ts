// Records an outcome that Stripe has and the table lacks, by the worker's own conditional writes: a repair
// is one more worker that comes to the message, except that it never charges.

import { fingerprint } from "./charge.ts";
import type { ChargeParams } from "./charge.ts";
import type { Records } from "./claim.ts";
import { damagedAttribute } from "./record.ts";
import type { IdempotencyRecord, Outcome } from "./record.ts";

const CALL_MS = 5_000;
// Long enough for one more write; if this process dies, the next delivery takes over soon.
const LEASE_MS = 30_000;

/** What Stripe has under a message id. */
export type Charged = {
  outcome: Outcome;
  /** What was sent to Stripe, as far as the PaymentIntent shows. */
  params: ChargeParams;
  /** Epoch ms. */
  createdAt: number;
};

export type RepairDeps = {
  records: Records;
  recordTtlMs: number;
  /** Epoch ms. */
  now: () => number;
  newOwner: () => string;
};

/**
 * Completes the claim that was `seen`, or puts a record where there was none. False when another worker
 * came to the message meanwhile, or holds it: then nothing was written.
 *
 * @throws TableError
 */
export function repair(
  messageId: string,
  seen: IdempotencyRecord | undefined,
  charged: Charged,
  deps: RepairDeps,
): Promise<boolean> {
  return seen ? complete(seen, charged.outcome, deps) : put(messageId, charged, deps);
}

/** An expired claim: taken over exactly as it was seen, then completed. */
async function complete(
  seen: IdempotencyRecord,
  outcome: Outcome,
  { records, now: clock, newOwner }: RepairDeps,
): Promise<boolean> {
  const now = clock();
  if (damagedAttribute(seen) || seen.leaseExpiresAt > now) return false;
  const claim = {
    messageId: seen.messageId,
    owner: newOwner(),
    leaseExpiresAt: now + LEASE_MS,
    attempt: seen.attempt + 1,
    firstClaimedAt: seen.firstClaimedAt,
  };
  const standing = await records.takeOver(seen, claim, CALL_MS);
  return (
    standing === undefined &&
    (await records.complete(claim, { outcome, completedAt: now }, CALL_MS))
  );
}

/**
 * No record: put with its outcome, unless one has come meanwhile. Without it, a redelivery after Stripe
 * has forgotten the key would be charged again.
 */
async function put(
  messageId: string,
  { outcome, params, createdAt }: Charged,
  { records, recordTtlMs, now, newOwner }: RepairDeps,
): Promise<boolean> {
  const completedAt = now();
  const standing = await records.claim(
    {
      messageId,
      status: "COMPLETED",
      owner: newOwner(),
      leaseExpiresAt: 0,
      attempt: 1,
      firstClaimedAt: createdAt,
      fingerprint: fingerprint(params),
      amount: params.amount,
      currency: params.currency,
      completedAt,
      revision: 1,
      outcome,
      expiresAt: Math.ceil((completedAt + recordTtlMs) / 1_000),
    },
    CALL_MS,
  );
  return standing === undefined;
}
