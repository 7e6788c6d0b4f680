// One log line for each delivery's end, which is its metrics too: CloudWatch's embedded metric
// format rides on the same JSON.
// https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/CloudWatch_Embedded_Metric_Format_Specification.html

import { explainViolation } from "../message/invalid.ts";
import type { AttemptError, Outcome } from "../payments/record.ts";
import type { Result } from "../sqs/batch.ts";

export const METRICS_NAMESPACE = "PaymentWorker";

export type LogLine = { [field: string]: unknown };

type Metric = {
  name: string;
  unit: "Count" | "Milliseconds";
  value: number;
  /** A field of the line by which the metric is split, beside its total. */
  by?: "rule" | "kind";
};

type Told = {
  level: "INFO" | "WARN" | "ERROR";
  message: string;
  fields?: LogLine;
  metrics: Metric[];
};

/** The line that tells how a delivery ended. It holds ids and codes, never a message's values. */
export function reportLine(
  result: Result,
  { now, functionName, requestId }: { now: number; functionName: string; requestId: string },
): LogLine {
  const { delivery, messageId, traceId, ending } = result;
  const { level, message, fields, metrics } = tell(ending);
  if (ending.decision === "transient") {
    metrics.push({ name: "FailedReceive", unit: "Count", value: delivery.receiveCount });
  }
  if (ending.takeover) metrics.push(count("Takeover"));
  if (ending.lookedUp) metrics.push(count("Lookup"));
  return {
    timestamp: new Date(now).toISOString(),
    level,
    message,
    decision: ending.decision,
    messageId,
    traceId: traceId ?? delivery.xRayTraceId,
    receiveCount: delivery.receiveCount,
    sqsMessageId: delivery.sqsMessageId,
    requestId,
    attempt: ending.attempt,
    takeover: ending.takeover,
    lookedUp: ending.lookedUp,
    stripeRequestId: ending.stripeRequestId,
    claimMs: ending.claimMs,
    chargeMs: ending.chargeMs,
    completeMs: ending.completeMs,
    ...fields,
    FunctionName: functionName,
    ...embed(metrics, now),
  };
}

function tell(ending: Result["ending"]): Told {
  switch (ending.decision) {
    case "completed": {
      const { claimMs = 0, chargeMs = 0, completeMs = 0 } = ending;
      const value = claimMs + chargeMs + completeMs;
      return {
        level: "INFO",
        message: `charge ${ending.outcome.result}`,
        fields: outcomeFields(ending.outcome),
        metrics: [
          count(OUTCOME_METRICS[ending.outcome.result]),
          { name: "ClaimToComplete", unit: "Milliseconds", value },
        ],
      };
    }
    case "duplicate":
      return {
        level: "INFO",
        message: `duplicate: the outcome is ${ending.outcome.result} already`,
        fields: outcomeFields(ending.outcome),
        metrics: [count("Duplicate")],
      };
    case "in_progress":
      return {
        level: "INFO",
        message: "another worker holds the claim",
        metrics: [count("InProgress")],
      };
    case "lease_lost":
      return {
        level: "WARN",
        message: "another worker took the claim over before it completed",
        metrics: [count("LeaseLost")],
      };
    case "not_started":
      return {
        level: "WARN",
        message: "too close to the deadline to begin",
        metrics: [count("NotStarted")],
      };
    case "invalid":
      return {
        level: "ERROR",
        message: `invalid: ${explainViolation(ending.violation)}`,
        fields: ending.violation,
        metrics: [count("Invalid", "rule")],
      };
    case "conflict":
      return {
        level: "ERROR",
        message: ending.error
          ? "conflict: Stripe knows this message id with another payment"
          : "conflict: this message id was claimed for another payment",
        fields: errorFields(ending.error),
        metrics: [count("Conflict")],
      };
    case "rejected":
      return {
        level: "ERROR",
        message: "Stripe rejected the request as invalid",
        fields: errorFields(ending.error),
        metrics: [count("Rejected")],
      };
    case "transient": {
      const failure = count("TransientFailure", "kind");
      if (ending.error.kind === "stripe_configuration") {
        return {
          level: "ERROR",
          message:
            "Stripe refused the API key, or there is none: check the secret and the key's permissions",
          fields: errorFields(ending.error),
          metrics: [failure, count("ConfigurationError")],
        };
      }
      return {
        level: "WARN",
        message: `no outcome yet: ${ending.error.kind}`,
        fields: errorFields(ending.error),
        metrics: [failure],
      };
    }
  }
}

const OUTCOME_METRICS = {
  succeeded: "Succeeded",
  processing: "Processing",
  requires_action: "RequiresAction",
  declined: "Declined",
} as const;

function outcomeFields(outcome: Outcome): LogLine {
  const fields = { outcome: outcome.result, paymentIntentId: outcome.paymentIntentId };
  if (outcome.result !== "declined") return fields;
  return { ...fields, code: outcome.code, declineCode: outcome.declineCode };
}

function errorFields(error: AttemptError | undefined): LogLine {
  return { kind: error?.kind, code: error?.code, param: error?.param, where: error?.where };
}

function count(name: string, by?: "rule" | "kind"): Metric {
  return { name, unit: "Count", value: 1, ...(by && { by }) };
}

function embed(metrics: readonly Metric[], now: number): LogLine {
  const directives = metrics.map(({ name, unit, by }) => ({
    Namespace: METRICS_NAMESPACE,
    Dimensions: [["FunctionName"], ...(by ? [["FunctionName", by]] : [])],
    Metrics: [{ Name: name, Unit: unit }],
  }));
  return {
    _aws: { Timestamp: now, CloudWatchMetrics: directives },
    ...Object.fromEntries(metrics.map(({ name, value }) => [name, value])),
  };
}
