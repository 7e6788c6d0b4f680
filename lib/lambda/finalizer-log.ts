// One log line for each delivery of one of Stripe's events, which is its metrics too.

import type { Outcome } from "../payments/record.ts";
import type { StripeEvent } from "../payments/stripe-event.ts";
import type { Delivery } from "../sqs/delivery.ts";
import { count, embedMetrics } from "./emf.ts";
import type { LogLine, Metric } from "./emf.ts";
import type { EventResult } from "./event-result.ts";

type Decision = EventResult["decision"];
type Of<D extends Decision> = Extract<EventResult, { decision: D }>;

type Entry = {
  level: "INFO" | "WARN" | "ERROR";
  message: string;
  fields?: LogLine;
  metrics: Metric[];
};

/** It holds ids and codes, never what an event says. */
export function finalizerLine(
  {
    delivery,
    event,
    result,
  }: { delivery: Delivery; event: StripeEvent | undefined; result: EventResult },
  { now, functionName, requestId }: { now: number; functionName: string; requestId: string },
): LogLine {
  const { level, message, fields, metrics } = entryOf(result);
  return {
    timestamp: new Date(now).toISOString(),
    level,
    message,
    decision: result.decision,
    messageId: result.messageId,
    stripeEventId: event?.eventId,
    stripeEventType: event?.type,
    paymentIntentId: event && "paymentIntentId" in event ? event.paymentIntentId : undefined,
    receiveCount: delivery.receiveCount,
    sqsMessageId: delivery.sqsMessageId,
    requestId,
    ...fields,
    ...embedMetrics(metrics, functionName, now),
  };
}

const ENTRIES: { [D in Decision]: (result: Of<D>) => Entry } = {
  advanced: ({ outcome }) => ({
    level: "INFO",
    message: `the payment is now ${outcome.result}`,
    fields: outcomeFields(outcome),
    metrics: [count("Advanced")],
  }),
  duplicate: ({ outcome }) => ({
    level: "INFO",
    message: `duplicate: the outcome is ${outcome.result} already`,
    fields: outcomeFields(outcome),
    metrics: [count("Duplicate")],
  }),
  in_progress: () => ({
    level: "INFO",
    message: "too early: the worker has not recorded an outcome yet",
    metrics: [count("InProgress")],
  }),
  reported: ({ notice }) => ({
    level: notice.type === "payment.disputed" ? "WARN" : "INFO",
    message: `reported ${notice.type}`,
    fields: { eventId: notice.id },
    metrics: [count(notice.type === "payment.disputed" ? "Disputed" : "Refunded")],
  }),
  foreign: () => ({
    level: "INFO",
    message: "another integration's PaymentIntent: it carries no message id",
    metrics: [count("Foreign")],
  }),
  ignored: () => ({ level: "INFO", message: "an event that changes nothing here", metrics: [] }),
  unmatched: () => ({
    level: "WARN",
    message: "a PaymentIntent of ours without a record: expired, lost, or another deployment's",
    metrics: [count("Unmatched")],
  }),
  double_charge: ({ recorded, found }) => ({
    level: "ERROR",
    message: "double charge: a second PaymentIntent carries this message id; refund one of them",
    fields: { recorded, found },
    metrics: [count("DoubleCharge")],
  }),
  contradiction: ({ recorded, found }) => ({
    level: "ERROR",
    message: `Stripe says ${found.result}, and the record says ${recorded.result} for good`,
    fields: { recorded: recorded.result, found: found.result },
    metrics: [count("Contradiction")],
  }),
  invalid: ({ reason }) => ({
    level: "ERROR",
    message:
      reason === "mode"
        ? "an event of the other Stripe mode"
        : "the body is not an event of Stripe's",
    fields: { reason },
    metrics: [count("Invalid")],
  }),
  transient: ({ error }) => ({
    level: error.kind === "stripe_configuration" ? "ERROR" : "WARN",
    message: `not finalized yet: ${error.kind}`,
    fields: { kind: error.kind, code: error.code },
    metrics: [
      count("TransientFailure", "kind"),
      ...(error.kind === "stripe_configuration" ? [count("ConfigurationError")] : []),
    ],
  }),
};

/** The table's own type says that each decision meets its function. */
function entryOf<D extends Decision>(result: Of<D>): Entry {
  return (ENTRIES[result.decision] as (result: Of<D>) => Entry)(result);
}

function outcomeFields(outcome: Outcome): LogLine {
  return { outcome: outcome.result, ...("code" in outcome && { code: outcome.code }) };
}
