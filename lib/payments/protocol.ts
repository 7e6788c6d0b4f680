// One delivery of one message: claim, charge, complete.
//
//   claim ──► charge ──► complete ──► acknowledge
//     ✗1        ✗2          ✗3           ✗4        a worker may die at each arrow
//
//   ✗1, ✗2: the lease expires, the next delivery takes over and charges with the same key.
//   ✗3: the same, and Stripe replays its first answer.
//   ✗4: the next delivery finds the outcome.

import type { PaymentMessage } from "../message/decode.ts";
import { timeLeftMs } from "../timing/deadline.ts";
import type { Deadline } from "../timing/deadline.ts";
import { chargeParams, fingerprint } from "./charge.ts";
import type { ChargeParams } from "./charge.ts";
import { acquire, TableError } from "./claim.ts";
import type { Acquired, Claim, ClaimDeps } from "./claim.ts";
import type { AttemptError, Outcome } from "./record.ts";

/** What Stripe's answer means. */
export type ChargeAnswer =
  | { kind: "outcome"; outcome: Outcome; requestId?: string }
  | { kind: "error"; error: AttemptError };

/** Stripe. */
export interface Charges {
  create(
    params: ChargeParams,
    options: { idempotencyKey: string; timeoutMs: number },
  ): Promise<ChargeAnswer>;
  /** Looks for the PaymentIntent of a message among those created since `since` (epoch ms). */
  find(
    query: { messageId: string; customer: string; since: number },
    timeoutMs: number,
  ): Promise<ChargeAnswer | { kind: "none" }>;
}

/** How a delivery ended. `charged` and `duplicate` are acknowledged, nothing else is. */
export type Ending = Attempt &
  (
    | { decision: "completed" | "duplicate"; outcome: Outcome }
    | { decision: "in_progress"; leaseExpiresAt: number }
    /** The same id with another payment: never charged. */
    | { decision: "conflict"; error?: AttemptError }
    /** Stripe calls the request invalid: not an outcome. */
    | { decision: "rejected"; error: AttemptError }
    | { decision: "transient"; error: AttemptError }
    /** Another worker took the claim over: the next delivery finds its outcome. */
    | { decision: "lease_lost" }
    /** Too close to the deadline to begin. */
    | { decision: "not_started" }
  );

/** What an attempt did, for the log. Durations are in ms. */
export type Attempt = {
  attempt?: number;
  takeover?: boolean;
  lookedUp?: boolean;
  stripeRequestId?: string;
  claimMs?: number;
  chargeMs?: number;
  completeMs?: number;
};

export type Deps = ClaimDeps & { charges: Charges };

/** Processes one delivery. What nobody planned is a transient ending. */
export async function processMessage(
  message: PaymentMessage,
  deps: Deps,
  deadline: Deadline,
): Promise<Ending> {
  const { records, timings, now } = deps;
  const { callTimeoutMs, stripeTimeoutMs, deadlineReserveMs } = timings;
  const params = chargeParams(message);
  const attempt: Attempt = {};

  if (deadline.remainingMs() < 2 * callTimeoutMs + stripeTimeoutMs + deadlineReserveMs) {
    return { decision: "not_started" };
  }

  let claim: Claim | undefined;
  try {
    const claimStarted = now();
    const acquired = await acquire(message.id, fingerprint(params), deps, deadline);
    attempt.claimMs = now() - claimStarted;
    if (acquired.kind !== "acquired") return { ...attempt, ...endingOf(acquired) };

    ({ claim } = acquired);
    attempt.attempt = claim.attempt;
    attempt.takeover = acquired.takeover;

    const chargeStarted = now();
    const answer = await charge(claim, params, attempt, deps, deadline);
    attempt.chargeMs = now() - chargeStarted;

    if (answer.kind === "error") return await giveUp(claim, answer.error, attempt, deps, deadline);
    if (answer.requestId) attempt.stripeRequestId = answer.requestId;

    const completeStarted = now();
    const completed = await records.complete(claim, answer.outcome, timeLeftMs(timings, deadline));
    attempt.completeMs = now() - completeStarted;
    return completed
      ? { ...attempt, decision: "completed", outcome: answer.outcome }
      : { ...attempt, decision: "lease_lost" };
  } catch (cause) {
    const error = describeError(cause);
    if (!claim) return { ...attempt, decision: "transient", error };
    return giveUp(claim, error, attempt, deps, deadline);
  }
}

function endingOf(found: Exclude<Acquired, { kind: "acquired" }>): Ending {
  switch (found.kind) {
    case "duplicate":
      return { decision: "duplicate", outcome: found.outcome };
    case "in_progress":
      return { decision: "in_progress", leaseExpiresAt: found.leaseExpiresAt };
    case "conflict":
      return { decision: "conflict" };
  }
}

async function charge(
  claim: Claim,
  params: ChargeParams,
  attempt: Attempt,
  { charges, timings, now }: Deps,
  deadline: Deadline,
): Promise<ChargeAnswer> {
  const { stripeTimeoutMs, callTimeoutMs, deadlineReserveMs } = timings;
  // Completing must still fit after the charge.
  const budget = () =>
    Math.min(stripeTimeoutMs, deadline.remainingMs() - callTimeoutMs - deadlineReserveMs);

  // Stripe may have pruned the key by now, and would charge again: look before you leap.
  if (now() - claim.firstClaimedAt >= timings.keyWindowMs) {
    if (budget() <= 0) return OUT_OF_TIME;
    attempt.lookedUp = true;
    const query = {
      messageId: claim.messageId,
      customer: params.customer,
      since: claim.firstClaimedAt - LOOK_BACK_MS,
    };
    const found = await charges.find(query, budget());
    if (found.kind === "error" && found.error.kind === "stripe_rejected") {
      // What is invalid is the question: it says nothing of the charge.
      return { kind: "error", error: { ...found.error, kind: "stripe_lookup" } };
    }
    if (found.kind !== "none") return found;
  }
  if (budget() <= 0) return OUT_OF_TIME;
  return charges.create(params, { idempotencyKey: claim.messageId, timeoutMs: budget() });
}

const OUT_OF_TIME: ChargeAnswer = { kind: "error", error: { kind: "deadline" } };

// The worker's clock and Stripe's may differ by this much, in ms.
const LOOK_BACK_MS = 5 * 60 * 1_000;

/** Ends an attempt without an outcome: the claim is given up, never deleted. */
async function giveUp(
  claim: Claim,
  error: AttemptError,
  attempt: Attempt,
  { records, timings }: Deps,
  deadline: Deadline,
): Promise<Ending> {
  try {
    await records.release(claim, error, timeLeftMs(timings, deadline));
  } catch {
    // The lease expires by itself.
  }
  const ended = { ...attempt, ...(error.requestId && { stripeRequestId: error.requestId }), error };
  if (error.kind === "stripe_rejected") return { ...ended, decision: "rejected" };
  if (error.kind === "stripe_conflict") return { ...ended, decision: "conflict" };
  return { ...ended, decision: "transient" };
}

/** An exception as an attempt's error: by name and place, because its text may quote the message. */
export function describeError(cause: unknown): AttemptError {
  if (cause instanceof TableError) return { kind: "table_unavailable", code: cause.code };
  if (!(cause instanceof Error)) return { kind: "unexpected", code: typeof cause };
  const where = /^\s+at (.{1,120})/m.exec(cause.stack ?? "")?.[1];
  return { kind: "unexpected", code: cause.name, ...(where && { where }) };
}
