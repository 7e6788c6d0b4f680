// Why a message is in the dead-letter queue, and what to do: from its body, decoded again, and from
// its idempotency record.
import type { Decoded } from "../../lib/message/decode.ts";
import { explainViolation } from "../../lib/message/invalid.ts";
import { chargeParams, fingerprint } from "../../lib/payments/charge.ts";
import { classify } from "../../lib/payments/record.ts";
import type { AttemptError, IdempotencyRecord } from "../../lib/payments/record.ts";

export type Reason = {
  /** For grouping and for `--reason`: a kind, and after a slash the detail. */
  code: string;
  /** One sentence. */
  why: string;
  /** What helps, one sentence. */
  next: string;
  /** Stripe's request id of the last attempt. */
  stripeRequestId?: string;
};

/** Why a dead letter is one. `record` is the one under its message id; `now` is in epoch ms. */
export function reasonOf(
  decoded: Decoded,
  record: IdempotencyRecord | undefined,
  now: number,
): Reason {
  if (decoded.kind === "invalid") {
    const { violation } = decoded;
    return {
      code: `invalid/${violation.rule}`,
      why: explainViolation(violation),
      next:
        violation.rule === "message_too_old"
          ? "It may have been charged before: see status --stripe and Stripe's dashboard. Only if it was not, the sender sends a new message."
          : "It was never charged. The sender fixes it and sends it again with the same id; this one stays invalid.",
    };
  }
  if (!record) {
    return {
      code: "unclaimed",
      why: "No attempt has claimed it: the worker did not run, or DynamoDB did not answer.",
      next: "Redrive once the function and the table work again.",
    };
  }
  const classification = classify(
    record,
    { owner: "", fingerprint: fingerprint(chargeParams(decoded.message)), receiveCount: 1 },
    now,
  );
  switch (classification.kind) {
    case "conflict":
      return CONFLICT;
    case "duplicate":
      return {
        code: "completed",
        why: `Its outcome is recorded: ${classification.outcome.result}. Only the acknowledgement was lost.`,
        next: "Redrive: it is acknowledged as a duplicate, without a call to Stripe.",
      };
    case "in_progress":
      return {
        code: "in_progress",
        why: `Attempt ${record.attempt} is charging it now: another delivery of it is in the queue.`,
        next: "Wait a minute, then run this again.",
      };
    case "damaged":
      return ofError({ kind: "record_damaged", code: classification.attribute });
    case "ours":
    case "rejected":
    case "expired":
      return reasonOfAttempt(record);
  }
}

/** Why the last attempt of an expired claim ended without an outcome. */
export function reasonOfAttempt({ attempt, lastError }: IdempotencyRecord): Reason {
  if (lastError) return ofError(lastError);
  return {
    code: "died",
    why: `The worker of attempt ${attempt} ended without recording why: killed, timed out, out of memory, or cut off from the table.`,
    next: "See the function's log, then redrive.",
  };
}

/** Whether a dead letter can have this reason: its kind, before the slash, is one of REASON_KINDS. */
export function isKnownReason(wanted: string): boolean {
  return REASON_KINDS.includes(wanted.split("/")[0] ?? "");
}

/** Whether `--reason wanted` means this reason: the whole code, or the kind before the slash. */
export function isReason(code: string, wanted: string): boolean {
  return code === wanted || code.startsWith(`${wanted}/`);
}

const CONFLICT: Reason = {
  code: "conflict",
  why: "Its message id was used before, for another payment.",
  next: "The first payment stands. If both were intended, the sender sends this one with an id of its own.",
};

function ofError(error: AttemptError): Reason {
  const { kind, code, requestId } = error;
  const known = requestId === undefined ? {} : { stripeRequestId: requestId };
  if (kind === "stripe_conflict") return { ...CONFLICT, ...known };
  return { code: code ? `${kind}/${code}` : kind, ...EXPLAINED[kind](error), ...known };
}

const EXPLAINED: Record<
  Exclude<AttemptError["kind"], "stripe_conflict">,
  (error: AttemptError) => Pick<Reason, "why" | "next">
> = {
  stripe_unavailable: ({ code }) => ({
    why: `Stripe did not answer, or with an error of its own (${code}): whether it charged is unknown.`,
    next: "Redrive when Stripe works again: the same key finds what it did. If it comes back, Stripe repeats a stored 500 for that key: reconcile --repair records a charge at once, and the lookup finds it after a day.",
  }),
  stripe_rate_limited: () => ({
    why: "Stripe answered 429, too many requests.",
    next: "Redrive, slowly: --rate 5.",
  }),
  stripe_key_in_use: () => ({
    why: "Another request with its key was still running at Stripe.",
    next: "Redrive.",
  }),
  stripe_configuration: ({ code }) => ({
    why: `Stripe refused the API key or the account, or there was no key of the right mode (${code}).`,
    next: "Put a valid key into the secret, or activate the account, then redrive.",
  }),
  stripe_rejected: ({ code, param }) => ({
    why: `Stripe calls the request invalid: ${code}${param ? `, parameter ${param}` : ""}.`,
    next: "Fix at Stripe what it names and redrive; if it comes back the same, redrive 24 hours after its first attempt, because Stripe may replay its answer until then.",
  }),
  stripe_lookup: ({ code, param }) => ({
    why: `Stripe calls the lookup for an earlier charge invalid: ${code}${param ? `, parameter ${param}` : ""}. Whether it was charged is unknown.`,
    next: "Check that the key is of the account that was charged, and look for the message id in Stripe's dashboard; then redrive.",
  }),
  table_unavailable: ({ code }) => ({
    why: `DynamoDB did not answer (${code}).`,
    next: "Redrive once the table works again.",
  }),
  record_damaged: ({ code }) => ({
    why: `Its record is damaged: the attribute ${code} is missing or malformed, so no worker takes it over. Whether it was charged is unknown.`,
    next: "Look for the message id at Stripe, correct the record as the runbook says, then redrive.",
  }),
  deadline: () => ({
    why: "The invocation had no time left to charge it.",
    next: "Check how long Stripe and DynamoDB take, then redrive.",
  }),
  unexpected: ({ code, where }) => ({
    why: `An unexpected error: ${code}${where ? ` at ${where}` : ""}.`,
    next: "Find the message id in the function's log; redrive when the bug is fixed.",
  }),
};

/** The kinds of reasons, each a `--reason` of its own. */
export const REASON_KINDS: readonly string[] = [
  "invalid",
  "conflict",
  ...Object.keys(EXPLAINED),
  "died",
  "unclaimed",
  "completed",
  "in_progress",
];
