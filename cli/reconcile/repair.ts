// Records an outcome that Stripe has and the table lacks, by the worker's own conditional writes: an
// reconciliation is one more worker that comes to the message, except that it never charges.
import { randomUUID } from "node:crypto";

import type { Stripe } from "stripe";

import { fingerprint } from "../../lib/payments/charge.ts";
import type { ChargeParams } from "../../lib/payments/charge.ts";
import type { Records } from "../../lib/payments/claim.ts";
import type { IdempotencyRecord, Outcome } from "../../lib/payments/record.ts";
import { answerOf } from "../../lib/stripe/answers.ts";
import type { Verified } from "./verify.ts";

const CALL_MS = 5_000;
// Long enough for one more write; if this process dies, the next delivery takes over soon.
const LEASE_MS = 30_000;

export type Repaired = { messageId: string; recorded: boolean; sentence: string };

/** Settles a finding that was read again just now. `now` is in epoch ms. */
export async function repair(
  finding: Verified,
  records: Records,
  recordTtlMs: number,
  now: number,
): Promise<Repaired> {
  const { messageId, record, intent } = finding;
  const answer = intent && answerOf(intent);
  if (!intent || answer?.kind !== "outcome") {
    return { messageId, recorded: false, sentence: finding.sentence };
  }
  const { outcome } = answer;
  const recorded = record
    ? await complete(record, outcome, records, now)
    : await put(messageId, intent, outcome, records, recordTtlMs, now);
  return {
    messageId,
    recorded,
    sentence: recorded
      ? `recorded as ${outcome.result}, ${intent.id}`
      : "another worker came to it meanwhile: nothing was written",
  };
}

/** A claim that nobody holds: taken over exactly as it was seen, then completed. */
async function complete(
  seen: IdempotencyRecord,
  outcome: Outcome,
  records: Records,
  now: number,
): Promise<boolean> {
  const claim = {
    messageId: seen.messageId,
    owner: `reconciliation-${randomUUID()}`,
    leaseExpiresAt: now + LEASE_MS,
    attempt: seen.attempt + 1,
    firstClaimedAt: seen.firstClaimedAt,
  };
  const standing = await records.takeOver(seen, claim, CALL_MS);
  return standing === undefined && (await records.complete(claim, outcome, CALL_MS));
}

/**
 * No record: put with its outcome, unless one has come meanwhile. Without it, a redelivery after Stripe
 * has forgotten the key would be charged again.
 */
async function put(
  messageId: string,
  intent: Stripe.PaymentIntent,
  outcome: Outcome,
  records: Records,
  recordTtlMs: number,
  now: number,
): Promise<boolean> {
  const standing = await records.claim(
    {
      messageId,
      status: "COMPLETED",
      owner: `reconciliation-${randomUUID()}`,
      leaseExpiresAt: 0,
      attempt: 1,
      firstClaimedAt: intent.created * 1_000,
      fingerprint: fingerprint(paramsOf(intent)),
      outcome,
      expiresAt: Math.ceil((now + recordTtlMs) / 1_000),
    },
    CALL_MS,
  );
  return standing === undefined;
}

/**
 * What was sent to Stripe, as far as the PaymentIntent tells. Where it does not (Stripe replaces the
 * names of its test payment methods), a redelivery is a conflict: never charged, and seen.
 */
function paramsOf(intent: Stripe.PaymentIntent): ChargeParams {
  const { amount, currency, description, statement_descriptor_suffix: suffix, metadata } = intent;
  const method = intent.payment_method ?? intent.last_payment_error?.payment_method;
  return {
    amount,
    currency,
    customer: idOf(intent.customer),
    payment_method: idOf(method),
    confirm: true,
    off_session: true,
    ...(description !== null && { description }),
    ...(suffix !== null && { statement_descriptor_suffix: suffix }),
    metadata,
  };
}

function idOf(object: string | { id: string } | null | undefined): string {
  return typeof object === "string" ? object : (object?.id ?? "unknown");
}
