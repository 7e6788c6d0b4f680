// Payments as a user of the queue: decode, run the protocol, report, and say what becomes of the
// delivery.

import { decodeMessage } from "../message/decode.ts";
import { chargeRequest } from "../payments/charge.ts";
import { resultOfCopy } from "../payments/delivery-result.ts";
import type { DeliveryResult } from "../payments/delivery-result.ts";
import { describeError, processMessage } from "../payments/protocol.ts";
import type { Deps } from "../payments/protocol.ts";
import type { AttemptError } from "../payments/record.ts";
import type { Delivery, Disposition } from "../sqs/delivery.ts";
import { createSqsHandler } from "../sqs/handler.ts";
import type { Batch, Consumer, SqsHandler } from "../sqs/handler.ts";
import { createDeadline } from "../timing/deadline.ts";
import { paymentLine } from "./payment-log.ts";
import type { Delivered } from "./payment-log.ts";
import { timed } from "./timed.ts";

type Run = Pick<Delivered, "result" | "times">;

export type PaymentHandlerDeps = Deps &
  Omit<Consumer<Run>, "process" | "timings"> & { functionName: string };

export function createPaymentHandler(deps: PaymentHandlerDeps): SqsHandler {
  const { functionName, now } = deps;
  return createSqsHandler<Run>({
    ...deps,
    async process(delivery, batch) {
      const delivered = await deliver(delivery, batch, deps);
      const context = { now: now(), functionName, requestId: batch.requestId };
      return {
        disposition: dispositionOf(delivered.result),
        line: paymentLine(delivered, context),
      };
    },
  });
}

async function deliver(
  delivery: Delivery,
  { remainingMs, once }: Batch<Run>,
  deps: Deps,
): Promise<Delivered> {
  try {
    const { timings, now } = deps;
    const schemaVersion = delivery.attributes["bq-schema-version"];
    const decoded = decodeMessage(delivery.body, now(), timings, schemaVersion);
    if (decoded.kind === "invalid") {
      const { violation, messageId } = decoded;
      const result: DeliveryResult = { decision: "invalid", violation };
      return { delivery, ...(messageId && { messageId }), result, times: {} };
    }
    const { traceId } = decoded.message;
    const request = chargeRequest(decoded.message);
    const { messageId } = request;
    const { result: run, copy } = await once(messageId, request.fingerprint, async () => {
      const { records, charges, times } = timed(deps, now);
      const deadline = createDeadline(timings, remainingMs);
      const services = { ...deps, records, charges };
      const { receiveCount } = delivery;
      return { result: await processMessage(request, receiveCount, services, deadline), times };
    });
    const done = copy ? { result: resultOfCopy(run.result), times: {} } : run;
    return { delivery, messageId, ...(traceId && { traceId }), ...done };
  } catch (cause) {
    return { delivery, result: { decision: "transient", error: describeError(cause) }, times: {} };
  }
}

const UNAVAILABLE: ReadonlySet<AttemptError["kind"]> = new Set([
  "stripe_unavailable",
  "stripe_rate_limited",
  "stripe_configuration",
  "table_unavailable",
]);

/** What a result means for SQS. */
export function dispositionOf(result: DeliveryResult): Disposition {
  switch (result.decision) {
    case "completed":
    case "duplicate":
      return { kind: "acknowledge" };
    case "invalid":
    case "conflict":
    case "rejected":
      return { kind: "dead-letter" };
    case "in_progress":
      return { kind: "at", time: result.leaseExpiresAt };
    case "transient":
      return { kind: "backoff", unavailable: UNAVAILABLE.has(result.error.kind) };
    case "lease_lost":
    case "not_started":
      return { kind: "backoff" };
  }
}
