// The idempotency record, and what an existing one means for a new delivery.

/** The business result of a message. */
export type Outcome =
  | {
      result: "succeeded" | "processing" | "requires_action" | "canceled";
      paymentIntentId: string;
    }
  /** At its creation. */
  | { result: "declined"; paymentIntentId?: string; code: string; declineCode?: string }
  /** Later: a bank debit that bounced, or an authentication that failed. It may still succeed. */
  | { result: "failed"; paymentIntentId: string; code: string; declineCode?: string };

/** Why the last attempt ended without an outcome. */
export type AttemptError = {
  kind:
    | "stripe_unavailable" // connection error, timeout, 5xx, lock timeout: the result is unknown
    | "stripe_rate_limited"
    | "stripe_key_in_use" // another request with this key is still running at Stripe
    | "stripe_configuration" // the key or the account: an operator has to act
    | "stripe_lookup" // the lookup is invalid: whether an earlier attempt charged is unknown
    | "stripe_rejected" // the request is invalid: a retry cannot help until something is fixed
    | "stripe_conflict" // the key was used with other parameters
    | "table_unavailable"
    | "record_damaged" // an attribute of the record, named in `code`, is missing or malformed
    | "deadline" // the invocation had no time left
    | "unexpected";
  code?: string;
  /** The parameter that Stripe rejected, by name. */
  param?: string;
  /** Where in the code an unexpected error came from. */
  where?: string;
  /** Stripe's request id, for its dashboard and its support. */
  requestId?: string;
};

/** The DynamoDB item. Times ending in `At` are epoch ms, but for `expiresAt`. */
export type IdempotencyRecord = {
  messageId: string;
  status: "IN_PROGRESS" | "COMPLETED";
  /** A fresh random token for each attempt. */
  owner: string;
  /** 0 once the owner has released its claim. */
  leaseExpiresAt: number;
  attempt: number;
  firstClaimedAt: number;
  fingerprint: string;
  /** In Stripe's smallest unit. Records of earlier versions lack this and the next three. */
  amount?: number;
  currency?: string;
  completedAt?: number;
  /** 1 at complete, one more for each move forward of the outcome. */
  revision?: number;
  outcome?: Outcome;
  lastError?: AttemptError;
  /** Epoch seconds: DynamoDB's TTL takes no other unit, and in ms a record would never expire. */
  expiresAt: number;
};

export type Classification =
  /** Our own put, whose reply was lost and which the SDK sent again. */
  | { kind: "ours" }
  /** The same message id for another payment. */
  | { kind: "conflict" }
  | { kind: "duplicate"; outcome: Outcome }
  /** Another worker is on it. */
  | { kind: "in_progress"; leaseExpiresAt: number }
  /** Stripe called it invalid before, in this chain of receives, and would again. */
  | { kind: "rejected"; error: AttemptError }
  /** Cannot be trusted, and so is never taken over. */
  | { kind: "damaged"; attribute: string }
  /** Its owner died or released it: to be taken over. */
  | { kind: "expired" };

/**
 * What the record that stopped our claim says. `receiveCount` is the delivery's, from 1; `now` is in
 * epoch ms.
 */
export function classify(
  existing: IdempotencyRecord,
  ours: { owner: string; fingerprint: string; receiveCount: number },
  now: number,
): Classification {
  if (existing.owner === ours.owner) return { kind: "ours" };
  const attribute = damagedAttribute(existing);
  if (attribute !== undefined) return { kind: "damaged", attribute };
  if (existing.fingerprint !== ours.fingerprint) return { kind: "conflict" };
  // An expired record counts for as long as it is there: DynamoDB deletes late.
  if (existing.outcome) return { kind: "duplicate", outcome: existing.outcome };
  const { leaseExpiresAt, lastError } = existing;
  if (existing.leaseExpiresAt > now) return { kind: "in_progress", leaseExpiresAt };
  // A redrive, whose first receive is 1 again, asks again: an operator may have fixed the cause.
  if (leaseExpiresAt === 0 && lastError?.kind === "stripe_rejected" && ours.receiveCount > 1) {
    return { kind: "rejected", error: lastError };
  }
  return { kind: "expired" };
}

/** The first attribute that the protocol depends on and that is missing or malformed, by name. */
export function damagedAttribute(record: IdempotencyRecord): string | undefined {
  const { status, owner, fingerprint, outcome } = record;
  if (status !== "IN_PROGRESS" && status !== "COMPLETED") return "status";
  if (typeof fingerprint !== "string" || !fingerprint) return "fingerprint";
  if (status === "COMPLETED" || outcome !== undefined) {
    return typeof outcome?.result === "string" ? undefined : "outcome";
  }
  if (typeof owner !== "string" || !owner) return "owner";
  const { leaseExpiresAt, attempt, firstClaimedAt } = record;
  return Object.entries({ leaseExpiresAt, attempt, firstClaimedAt }).find(
    ([, value]) => !(Number.isFinite(value) && value >= 0),
  )?.[0];
}
