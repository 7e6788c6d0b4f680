// Outcome events as a user of the queue: read, apply in one transaction, report.

import { fulfill } from "../orders/fulfill.ts";
import type { Fulfilled, Orders } from "../orders/fulfill.ts";
import { readPaymentOutcome } from "../orders/payment-outcome.ts";
import type { PaymentOutcome } from "../orders/payment-outcome.ts";
import type { Disposition } from "../sqs/delivery.ts";
import { createSqsHandler } from "../sqs/handler.ts";
import type { Consumer, SqsHandler } from "../sqs/handler.ts";
import { count, embedMetrics } from "./emf.ts";
import type { LogLine } from "./emf.ts";

/** How the delivery of an outcome event ended. */
type Result = Fulfilled | { decision: "invalid" };

export type FulfillmentDeps = Omit<Consumer<Result>, "process"> & {
  orders: Orders;
  functionName: string;
};

export function createFulfillmentHandler(deps: FulfillmentDeps): SqsHandler {
  const { orders, functionName, now } = deps;
  return createSqsHandler<Result>({
    ...deps,
    async process({ body, receiveCount, sqsMessageId }, { requestId, once }) {
      const outcome = readPaymentOutcome(body);
      // Events of one order run one after another: side by side they would only cancel each other.
      const result: Result = outcome
        ? (await once(outcome.messageId, contentOf(outcome), () => apply(outcome, orders))).result
        : { decision: "invalid" };
      const { level, message, fields } = describe(result);
      const line = {
        timestamp: new Date(now()).toISOString(),
        level,
        message,
        decision: result.decision,
        messageId: outcome?.messageId,
        eventId: outcome?.id,
        receiveCount,
        sqsMessageId,
        requestId,
        ...fields,
        ...embedMetrics([count(METRICS[result.decision])], functionName, now()),
      };
      return { disposition: dispositionOf(result), line };
    },
  });
}

/** An event that says something else under the same id is no copy: the table knows it as a conflict. */
const contentOf = ({ source, id, hash }: PaymentOutcome): string => [source, id, hash].join(" ");

async function apply(...args: Parameters<typeof fulfill>): Promise<Fulfilled> {
  try {
    return await fulfill(...args);
  } catch (cause) {
    // The table did not answer: the transaction may have been applied, and the next delivery sees it.
    return { decision: "transient", code: cause instanceof Error ? cause.name : typeof cause };
  }
}

const METRICS = {
  applied: "Fulfilled",
  duplicate: "Duplicate",
  superseded: "Duplicate",
  conflict: "Conflict",
  unknown_order: "Conflict",
  invalid: "Invalid",
  transient: "TransientFailure",
  bug: "Conflict",
} as const;

function describe(result: Result): { level: string; message: string; fields?: LogLine } {
  switch (result.decision) {
    case "applied":
      return { level: "INFO", message: `the order is ${result.effect}` };
    case "duplicate":
      return { level: "INFO", message: "duplicate: the event was applied already" };
    case "superseded":
      return { level: "INFO", message: "an older event of an order that is paid" };
    case "conflict":
      return { level: "ERROR", message: `conflict: ${result.reason}` };
    case "unknown_order":
      return { level: "ERROR", message: "there is no order for this payment" };
    case "invalid":
      return { level: "ERROR", message: "the body is not an outcome event" };
    case "transient":
      return { level: "WARN", message: "not applied yet", fields: { code: result.code } };
    case "bug":
      return {
        level: "ERROR",
        message: "the table holds an effect without the record of its event",
        fields: { code: result.code },
      };
  }
}

function dispositionOf(result: Result): Disposition {
  switch (result.decision) {
    case "applied":
    case "duplicate":
    case "superseded":
      return { kind: "acknowledge" };
    case "transient":
      return { kind: "backoff" };
    case "conflict":
    case "unknown_order":
    case "invalid":
    case "bug":
      return { kind: "dead-letter" };
  }
}
