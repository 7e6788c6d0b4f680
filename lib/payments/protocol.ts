// One delivery of one message: claim, charge, complete.
//
//   claim ──► charge ──► complete ──► acknowledge
//     ✗1        ✗2          ✗3           ✗4        a worker may die at each arrow
//
//   ✗1, ✗2: the lease expires, the next delivery takes over and charges with the same key.
//   ✗3: the same, and Stripe replays its first answer.
//   ✗4: the next delivery finds the outcome.

import type { Deadline } from "../timing/deadline.ts";
import type { ChargeParams, ChargeRequest } from "./charge.ts";
import { acquire, TableError } from "./claim.ts";
import type { Acquired, Claim, ClaimDeps } from "./claim.ts";
import type { Attempt, DeliveryResult } from "./delivery-result.ts";
import type { AttemptError, Outcome } from "./record.ts";

/** What Stripe's answer means. */
export type ChargeAnswer =
  | { kind: "outcome"; outcome: Outcome; requestId?: string }
  | { kind: "error"; error: AttemptError };

/** What to look for; `since` is in epoch ms. */
type LookupQuery = Pick<ChargeParams, "customer" | "amount" | "currency"> & {
  messageId: string;
  since: number;
};

/** Stripe. */
export interface Charges {
  create(
    params: ChargeParams,
    options: { idempotencyKey: string; timeoutMs: number },
  ): Promise<ChargeAnswer>;
  /** Looks for the PaymentIntent of a message. One of another amount is a conflict. */
  find(query: LookupQuery, timeoutMs: number): Promise<ChargeAnswer | { kind: "none" }>;
}

export type Deps = ClaimDeps & { charges: Charges };

/** Processes one delivery. `receiveCount` is SQS's. Unexpected errors count as transient. */
export async function processMessage(
  request: ChargeRequest,
  receiveCount: number,
  deps: Deps,
  deadline: Deadline,
): Promise<DeliveryResult> {
  if (!deadline.fitsDelivery()) return { decision: "not_started" };

  let acquired: Acquired;
  try {
    acquired = await acquire(request, receiveCount, deps, deadline);
  } catch (cause) {
    return { decision: "transient", error: describeError(cause) };
  }
  if (acquired.kind !== "acquired") return resultOf(acquired);

  const { claim, takeover } = acquired;
  const { answer, lookedUp } = await charge(claim, request, deps, deadline);
  const stripeRequestId = answer.kind === "error" ? answer.error.requestId : answer.requestId;
  const attempt: Attempt = {
    attempt: claim.attempt,
    takeover,
    ...(lookedUp && { lookedUp }),
    ...(stripeRequestId && { stripeRequestId }),
  };
  if (answer.kind === "error") return release(claim, answer.error, attempt, deps, deadline);

  try {
    const { outcome } = answer;
    const completion = { outcome, completedAt: deps.now() };
    const completed = await deps.records.complete(claim, completion, deadline.tableCallMs());
    return completed
      ? { ...attempt, decision: "completed", outcome }
      : { ...attempt, decision: "lease_lost" };
  } catch (cause) {
    return release(claim, describeError(cause), attempt, deps, deadline);
  }
}

function resultOf(found: Exclude<Acquired, { kind: "acquired" }>): DeliveryResult {
  switch (found.kind) {
    case "duplicate":
      return { decision: "duplicate", outcome: found.outcome };
    case "in_progress":
      return { decision: "in_progress", leaseExpiresAt: found.leaseExpiresAt };
    case "conflict":
      return { decision: "conflict" };
    case "rejected": {
      const { error } = found;
      const { requestId } = error;
      return { decision: "rejected", error, ...(requestId && { stripeRequestId: requestId }) };
    }
    case "damaged":
      return {
        decision: "transient",
        error: { kind: "record_damaged", code: found.attribute },
      };
  }
}

type Charged = { answer: ChargeAnswer; lookedUp: boolean };

const OUT_OF_TIME: ChargeAnswer = { kind: "error", error: { kind: "deadline" } };

// The worker's clock and Stripe's may differ by this much, in ms.
const LOOK_BACK_MS = 5 * 60 * 1_000;

async function charge(
  claim: Claim,
  { params, sentAt }: ChargeRequest,
  { charges, timings, now }: Deps,
  deadline: Deadline,
): Promise<Charged> {
  let lookedUp = false;
  try {
    // A table that was restored forgets the first claim; a repeat may come under a new sender's time.
    const firstKnownAt = Math.min(claim.firstClaimedAt, sentAt);
    // Stripe may have pruned the key by now, and would charge again: look before you leap.
    if (now() - firstKnownAt >= timings.keyWindowMs) {
      if (deadline.stripeCallMs() <= 0) return { answer: OUT_OF_TIME, lookedUp };
      lookedUp = true;
      const query = {
        messageId: claim.messageId,
        customer: params.customer,
        amount: params.amount,
        currency: params.currency,
        since: firstKnownAt - timings.maxSenderAheadMs - LOOK_BACK_MS,
      };
      const found = await charges.find(query, deadline.stripeCallMs());
      if (found.kind !== "none") return { answer: found, lookedUp };
    }
    const timeoutMs = deadline.stripeCallMs();
    if (timeoutMs <= 0) return { answer: OUT_OF_TIME, lookedUp };
    const answer = await charges.create(params, { idempotencyKey: claim.messageId, timeoutMs });
    return { answer, lookedUp };
  } catch (cause) {
    return { answer: { kind: "error", error: describeError(cause) }, lookedUp };
  }
}

/** Ends an attempt without an outcome: the claim is released, never deleted. */
async function release(
  claim: Claim,
  error: AttemptError,
  attempt: Attempt,
  { records }: Deps,
  deadline: Deadline,
): Promise<DeliveryResult> {
  try {
    await records.release(claim, error, deadline.tableCallMs());
  } catch {
    // The lease expires by itself.
  }
  if (error.kind === "stripe_rejected") return { ...attempt, decision: "rejected", error };
  if (error.kind === "stripe_conflict") return { ...attempt, decision: "conflict", error };
  return { ...attempt, decision: "transient", error };
}

/** An exception as an attempt's error: by name and place, because its text may quote the message. */
export function describeError(cause: unknown): AttemptError {
  if (cause instanceof TableError) return { kind: "table_unavailable", code: cause.code };
  if (!(cause instanceof Error)) return { kind: "unexpected", code: typeof cause };
  const where = /^\s+at (.{1,120})/m.exec(cause.stack ?? "")?.[1];
  return { kind: "unexpected", code: cause.name, ...(where && { where }) };
}
