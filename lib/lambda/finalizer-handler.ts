// Stripe's events as a user of the queue: read, ask Stripe, move the record forward, report.

import { disputeNotice, refundNotice } from "../outcomes/notice.ts";
import type { OutcomeBus } from "../outcomes/publish.ts";
import { TableError } from "../payments/claim.ts";
import { finalize } from "../payments/finalize.ts";
import type { RecordedOutcomes } from "../payments/finalize.ts";
import type { AttemptError } from "../payments/record.ts";
import { readStripeEvent } from "../payments/stripe-event.ts";
import type { StripeEvent } from "../payments/stripe-event.ts";
import type { Disposition } from "../sqs/delivery.ts";
import { createSqsHandler } from "../sqs/handler.ts";
import type { Batch, Consumer, SqsHandler } from "../sqs/handler.ts";
import type { StripeMode } from "../stripe/api-key.ts";
import type { Payments } from "../stripe/payments.ts";
import { createDeadline } from "../timing/deadline.ts";
import type { Deadline } from "../timing/deadline.ts";
import type { WorkerTimings } from "../timing/payments.ts";
import type { EventResult } from "./event-result.ts";
import { finalizerLine } from "./finalizer-log.ts";

export type FinalizerDeps = Omit<Consumer<EventResult>, "process" | "timings"> & {
  payments: Payments;
  records: RecordedOutcomes;
  /** Where refunds and disputes are reported; absent: to the log and the metrics only. */
  bus?: OutcomeBus;
  source: string;
  mode?: StripeMode | undefined;
  functionName: string;
  timings: WorkerTimings;
};

export function createFinalizerHandler(deps: FinalizerDeps): SqsHandler {
  const { functionName, now } = deps;
  return createSqsHandler<EventResult>({
    ...deps,
    async process(delivery, batch) {
      const event = readStripeEvent(delivery.body);
      const result = await resultOf(event, batch, deps);
      const context = { now: now(), functionName, requestId: batch.requestId };
      return {
        disposition: dispositionOf(result),
        line: finalizerLine({ delivery, event, result }, context),
      };
    },
  });
}

async function resultOf(
  event: StripeEvent | undefined,
  { remainingMs, once }: Batch<EventResult>,
  deps: FinalizerDeps,
): Promise<EventResult> {
  if (!event) return { decision: "invalid", reason: "not_an_event" };
  if (deps.mode && event.livemode !== (deps.mode === "live")) {
    return { decision: "invalid", reason: "mode" };
  }
  if (event.about === "other") return { decision: "ignored" };
  const deadline = createDeadline(deps.timings, remainingMs);
  // Several events of one payment are one question to Stripe.
  const what = event.about === "payment" ? event.about : event.eventId;
  const { result } = await once(event.paymentIntentId, what, () => handle(event, deadline, deps));
  return result;
}

type Subject = Exclude<StripeEvent, { about: "other" }>;

async function handle(
  event: Subject,
  deadline: Deadline,
  deps: FinalizerDeps,
): Promise<EventResult> {
  try {
    return event.about === "payment"
      ? await moveForward(event.paymentIntentId, deadline, deps)
      : await report(event, deadline, deps);
  } catch (cause) {
    return { decision: "transient", error: errorOf(cause) };
  }
}

async function moveForward(
  paymentIntentId: string,
  deadline: Deadline,
  { payments, records, now }: FinalizerDeps,
): Promise<EventResult> {
  const retrieved = await payments.retrieve(paymentIntentId, deadline.stripeCallMs());
  if ("error" in retrieved) return { decision: "transient", error: retrieved.error };
  if ("foreign" in retrieved) return { decision: "foreign" };
  const { messageId } = retrieved.found;
  const result = await finalize(retrieved.found, records, now(), deadline.tableCallMs());
  return { messageId, ...result };
}

async function report(
  event: Exclude<Subject, { about: "payment" }>,
  deadline: Deadline,
  { payments, bus, source }: FinalizerDeps,
): Promise<EventResult> {
  const retrieved = await payments.refunded(event.paymentIntentId, deadline.stripeCallMs());
  if ("error" in retrieved) return { decision: "transient", error: retrieved.error };
  if ("foreign" in retrieved) return { decision: "foreign" };
  const { messageId, paymentIntentId } = retrieved.found;
  const notice =
    event.about === "refund"
      ? refundNotice(retrieved.found, source)
      : disputeNotice(
          { messageId, paymentIntentId, disputeId: event.disputeId, phase: event.phase },
          source,
        );
  const [code] = bus ? await bus.publish([notice], deadline.tableCallMs()) : [];
  if (code !== undefined) return { decision: "transient", error: { kind: "unexpected", code } };
  return { decision: "reported", notice };
}

/** By name: an exception's text may quote the event. */
function errorOf(cause: unknown): AttemptError {
  if (cause instanceof TableError) return { kind: "table_unavailable", code: cause.code };
  return { kind: "unexpected", code: cause instanceof Error ? cause.name : typeof cause };
}

const UNAVAILABLE: ReadonlySet<AttemptError["kind"]> = new Set([
  "stripe_unavailable",
  "stripe_rate_limited",
  "stripe_configuration",
  "table_unavailable",
]);

function dispositionOf(result: EventResult): Disposition {
  switch (result.decision) {
    case "advanced":
    case "duplicate":
    case "reported":
    case "foreign":
    case "ignored":
    case "unmatched":
    case "double_charge": // reported at once; another delivery would find the same
      return { kind: "acknowledge" };
    case "contradiction":
    case "invalid":
      return { kind: "dead-letter" };
    case "in_progress":
      return { kind: "backoff" };
    case "transient":
      return { kind: "backoff", unavailable: UNAVAILABLE.has(result.error.kind) };
  }
}
