// How one delivery ended.

import type { Violation } from "../message/invalid.ts";
import type { AttemptError, Outcome } from "./record.ts";

/** What an attempt did, for the log. */
export type Attempt = {
  attempt?: number;
  takeover?: boolean;
  lookedUp?: boolean;
  stripeRequestId?: string;
};

/** `completed` and `duplicate` are acknowledged, nothing else is. */
export type DeliveryResult = Attempt &
  (
    | { decision: "completed"; outcome: Outcome }
    | { decision: "duplicate"; outcome: Outcome }
    | { decision: "in_progress"; leaseExpiresAt: number }
    /** The same id with another payment: never charged. */
    | { decision: "conflict"; error?: AttemptError }
    /** The message breaks one of our rules: never charged. */
    | { decision: "invalid"; violation: Violation }
    /** Stripe calls the request invalid: not an outcome. */
    | { decision: "rejected"; error: AttemptError }
    | { decision: "transient"; error: AttemptError }
    /** Another worker took the claim over: the next delivery finds its outcome. */
    | { decision: "lease_lost" }
    /** Too close to the deadline to begin. */
    | { decision: "not_started" }
  );

export type Decision = DeliveryResult["decision"];

/** The result of a delivery that waited for another of the same message: nothing was done for it. */
export function resultOfCopy(result: DeliveryResult): DeliveryResult {
  if (result.decision === "completed") return { decision: "duplicate", outcome: result.outcome };
  return result.takeover ? { ...result, takeover: false } : result;
}
