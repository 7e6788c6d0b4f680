// One delivery of one message: claim, charge, complete.
//
//   claim ──► charge ──► complete ──► acknowledge
//     ✗1        ✗2          ✗3           ✗4        a worker may die at each arrow
//
//   ✗1, ✗2: the lease lapses, the next delivery takes over and charges with the same key.
//   ✗3: the same, and Stripe replays its first answer.
//   ✗4: the next delivery finds the outcome.

import { chargeParams, fingerprint } from "./charge.ts";
import type { ChargeParams } from "./charge.ts";
import type { PaymentMessage } from "./message.ts";
import { judge } from "./record.ts";
import type { AttemptError, IdempotencyRecord, Outcome } from "./record.ts";
import type { WorkerTimings } from "./timing.ts";

/** A claim that is ours. */
export type Claim = Pick<
  IdempotencyRecord,
  "messageId" | "owner" | "attempt" | "firstClaimedAt" | "leaseExpiresAt"
>;

/** The table. Every method throws `TableError` when the table did not answer in time. */
export interface Records {
  /** Puts the record unless one is there; answers with the one that is. */
  claim(record: IdempotencyRecord, timeoutMs: number): Promise<IdempotencyRecord | undefined>;
  /** Replaces `seen` if it still stands; answers with what stands instead. */
  takeOver(
    seen: IdempotencyRecord,
    claim: Claim,
    timeoutMs: number,
  ): Promise<IdempotencyRecord | undefined>;
  /** Records the outcome; false when the claim is no longer ours. */
  complete(claim: Claim, outcome: Outcome, timeoutMs: number): Promise<boolean>;
  /** Gives the claim up, unless it is no longer ours. */
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
    | { decision: "charged" | "duplicate"; outcome: Outcome }
    | { decision: "held"; leaseExpiresAt: number }
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
  takeOver?: boolean;
  lookedUp?: boolean;
  stripeRequestId?: string;
  claimMs?: number;
  chargeMs?: number;
  completeMs?: number;
};

export type Deps = {
  records: Records;
  charges: Charges;
  timings: WorkerTimings;
  /** Epoch ms. */
  now: () => number;
  newOwner: () => string;
};

/** What is left of the invocation, in ms. */
export type Deadline = { remainingMs: () => number };

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
    const acquired = await acquire(message, params, deps, deadline);
    attempt.claimMs = now() - claimStarted;
    if ("decision" in acquired) return { ...attempt, ...acquired };

    ({ claim } = acquired);
    attempt.attempt = claim.attempt;
    attempt.takeOver = acquired.takeOver;

    const chargeStarted = now();
    const answer = await charge(claim, params, attempt, deps, deadline);
    attempt.chargeMs = now() - chargeStarted;

    if (answer.kind === "error") return await giveUp(claim, answer.error, attempt, deps, deadline);
    if (answer.requestId) attempt.stripeRequestId = answer.requestId;

    const completeStarted = now();
    const completed = await records.complete(claim, answer.outcome, timeLeft(deps, deadline));
    attempt.completeMs = now() - completeStarted;
    return completed
      ? { ...attempt, decision: "charged", outcome: answer.outcome }
      : { ...attempt, decision: "lease_lost" };
  } catch (cause) {
    const error = describeError(cause);
    if (!claim) return { ...attempt, decision: "transient", error };
    return giveUp(claim, error, attempt, deps, deadline);
  }
}

/** Claims the message, or takes a lapsed claim over, or says why neither can be. */
async function acquire(
  message: PaymentMessage,
  params: ChargeParams,
  deps: Deps,
  deadline: Deadline,
): Promise<{ claim: Claim; takeOver: boolean } | Ending> {
  const { records, timings } = deps;
  const now = deps.now();
  const ours = { owner: deps.newOwner(), fingerprint: fingerprint(params) };
  // The end of this invocation and the clocks' difference: no live worker outlasts its lease.
  const leaseExpiresAt = now + deadline.remainingMs() + timings.clockSkewMs;

  const record: IdempotencyRecord = {
    ...ours,
    messageId: message.id,
    status: "IN_PROGRESS",
    leaseExpiresAt,
    attempt: 1,
    firstClaimedAt: now,
    expiresAt: Math.ceil((now + timings.recordTtlMs) / 1_000),
  };
  const existing = await records.claim(record, timeLeft(deps, deadline));
  if (!existing) return { claim: record, takeOver: false };

  const judgement = judge(existing, ours, now);
  if (judgement.kind === "ours") return { claim: record, takeOver: false };
  if (judgement.kind !== "lapsed") return endingOf(judgement);

  const claim: Claim = {
    messageId: message.id,
    owner: ours.owner,
    leaseExpiresAt,
    attempt: existing.attempt + 1,
    firstClaimedAt: existing.firstClaimedAt,
  };
  const standing = await records.takeOver(existing, claim, timeLeft(deps, deadline));
  if (!standing) return { claim, takeOver: true };

  const second = judge(standing, ours, now);
  if (second.kind === "ours") return { claim, takeOver: true };
  // Taken over and already released again by a third worker: its back-off is ours too.
  if (second.kind === "lapsed") return { decision: "held", leaseExpiresAt: now };
  return endingOf(second);
}

function endingOf(
  judgement: Exclude<ReturnType<typeof judge>, { kind: "ours" | "lapsed" }>,
): Ending {
  switch (judgement.kind) {
    case "duplicate":
      return { decision: "duplicate", outcome: judgement.outcome };
    case "held":
      return { decision: "held", leaseExpiresAt: judgement.leaseExpiresAt };
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
  deps: Deps,
  deadline: Deadline,
): Promise<Ending> {
  try {
    await deps.records.release(claim, error, timeLeft(deps, deadline));
  } catch {
    // The lease lapses by itself.
  }
  const ended = { ...attempt, ...(error.requestId && { stripeRequestId: error.requestId }), error };
  if (error.kind === "stripe_rejected") return { ...ended, decision: "rejected" };
  if (error.kind === "stripe_conflict") return { ...ended, decision: "conflict" };
  return { ...ended, decision: "transient" };
}

/** The time for one call to the table: never into the reserve, and never nothing. */
function timeLeft({ timings }: Deps, deadline: Deadline): number {
  return Math.max(
    1,
    Math.min(timings.callTimeoutMs, deadline.remainingMs() - timings.deadlineReserveMs),
  );
}

/** An exception as an attempt's error: by name and place, because its text may quote the message. */
export function describeError(cause: unknown): AttemptError {
  if (cause instanceof TableError) return { kind: "table_unavailable", code: cause.code };
  if (!(cause instanceof Error)) return { kind: "unexpected", code: typeof cause };
  const where = /^\s+at (.+)$/m.exec(cause.stack ?? "")?.[1];
  return { kind: "unexpected", code: cause.name, ...(where && { where }) };
}
