// One log line for each delivery's end, which is its metrics too.

import { explainViolation } from "../message/invalid.ts";
import type { Decision, DeliveryResult } from "../payments/delivery-result.ts";
import type { AttemptError, Outcome } from "../payments/record.ts";
import type { Delivery } from "../sqs/delivery.ts";
import { count, embedMetrics } from "./emf.ts";
import type { LogLine, Metric } from "./emf.ts";
import type { Times } from "./timed.ts";

export type Delivered = {
  delivery: Delivery;
  messageId?: string;
  traceId?: string;
  result: DeliveryResult;
  times: Times;
};

/** The line that reports how a delivery ended. It holds ids and codes, never a message's values. */
export function paymentLine(
  { delivery, messageId, traceId, result, times }: Delivered,
  { now, functionName, requestId }: { now: number; functionName: string; requestId: string },
): LogLine {
  const { level, message, fields, metrics } = entryOf(result);
  const { claimMs = 0, chargeMs = 0, completeMs = 0 } = times;
  const all: Metric[] = [...metrics];
  if (result.decision === "completed") {
    const value = claimMs + chargeMs + completeMs;
    all.push({ name: "ClaimToComplete", unit: "Milliseconds", value });
  }
  if (result.decision === "transient") {
    all.push({ name: "FailedReceive", unit: "Count", value: delivery.receiveCount });
  }
  if (result.takeover) all.push(count("Takeover"));
  if (result.lookedUp) all.push(count("Lookup"));
  return {
    timestamp: new Date(now).toISOString(),
    level,
    message,
    decision: result.decision,
    messageId,
    traceId: traceId ?? delivery.xRayTraceId,
    receiveCount: delivery.receiveCount,
    sqsMessageId: delivery.sqsMessageId,
    requestId,
    attempt: result.attempt,
    takeover: result.takeover,
    lookedUp: result.lookedUp,
    stripeRequestId: result.stripeRequestId,
    claimMs: times.claimMs,
    chargeMs: times.chargeMs,
    completeMs: times.completeMs,
    ...fields,
    ...embedMetrics(all, functionName, now),
  };
}

type Entry = {
  level: "INFO" | "WARN" | "ERROR";
  message: string;
  fields?: LogLine;
  metrics: Metric[];
};

type Of<D extends Decision> = Extract<DeliveryResult, { decision: D }>;

const ENTRIES: { [D in Decision]: (result: Of<D>) => Entry } = {
  completed: ({ outcome }) => ({
    level: "INFO",
    message: `charge ${outcome.result}`,
    fields: outcomeFields(outcome),
    metrics: [count(OUTCOME_METRICS[outcome.result])],
  }),
  duplicate: ({ outcome }) => ({
    level: "INFO",
    message: `duplicate: the outcome is ${outcome.result} already`,
    fields: outcomeFields(outcome),
    metrics: [count("Duplicate")],
  }),
  in_progress: () => ({
    level: "INFO",
    message: "another worker holds the claim",
    metrics: [count("InProgress")],
  }),
  lease_lost: () => ({
    level: "WARN",
    message: "another worker took the claim over before it completed",
    metrics: [count("LeaseLost")],
  }),
  not_started: () => ({
    level: "WARN",
    message: "too close to the deadline to begin",
    metrics: [count("NotStarted")],
  }),
  invalid: ({ violation }) => ({
    level: "ERROR",
    message: `invalid: ${explainViolation(violation)}`,
    fields: violation,
    metrics: [count("Invalid", "rule")],
  }),
  conflict: ({ error }) => ({
    level: "ERROR",
    message: error
      ? "conflict: Stripe knows this message id with another payment"
      : "conflict: this message id was claimed for another payment",
    fields: errorFields(error),
    metrics: [count("Conflict")],
  }),
  rejected: ({ error }) => ({
    level: "ERROR",
    message: "Stripe rejected the request as invalid",
    fields: errorFields(error),
    metrics: [count("Rejected")],
  }),
  transient: ({ error }) => ({
    level: "WARN",
    message: `no outcome yet: ${error.kind}`,
    fields: errorFields(error),
    metrics: [count("TransientFailure", "kind")],
    ...(error.kind === "record_damaged" && {
      level: "ERROR",
      message: `the record is damaged and is not taken over: check its attribute ${error.code}`,
    }),
    ...(error.kind === "stripe_configuration" && {
      level: "ERROR",
      message:
        "Stripe refused the API key or the account, or there is no key of the right mode: check the secret, the key's permissions and the account",
      metrics: [count("TransientFailure", "kind"), count("ConfigurationError")],
    }),
  }),
};

/** The table's own type says that each decision meets its function. */
function entryOf<D extends Decision>(result: Of<D>): Entry {
  return (ENTRIES[result.decision] as (result: Of<D>) => Entry)(result);
}

const OUTCOME_METRICS = {
  succeeded: "Succeeded",
  processing: "Processing",
  requires_action: "RequiresAction",
  declined: "Declined",
  failed: "Failed",
  canceled: "Canceled",
} as const;

function outcomeFields(outcome: Outcome): LogLine {
  const fields = { outcome: outcome.result, paymentIntentId: outcome.paymentIntentId };
  if (!("code" in outcome)) return fields;
  return { ...fields, code: outcome.code, declineCode: outcome.declineCode };
}

function errorFields(error: AttemptError | undefined): LogLine {
  return { kind: error?.kind, code: error?.code, param: error?.param, where: error?.where };
}
