// A batch of deliveries: run concurrently, one charge for a message id however often it is in
// there, and for each failed one the time after which it should come back.

import { decodeMessage } from "../message/decode.ts";
import type { PaymentMessage } from "../message/decode.ts";
import type { Violation } from "../message/invalid.ts";
import { chargeParams, fingerprint } from "../payments/charge.ts";
import { describeError, processMessage } from "../payments/protocol.ts";
import type { Attempt, Deps, Ending } from "../payments/protocol.ts";
import type { AttemptError } from "../payments/record.ts";
import type { Deadline } from "../timing/deadline.ts";
import { backoffCeilingMs } from "../timing/timing.ts";
import type { WorkerTimings } from "../timing/timing.ts";

/** One SQS message as it was received. */
export type Delivery = {
  sqsMessageId: string;
  receiptHandle: string;
  body: string;
  /** 1 for the first receive. */
  receiveCount: number;
  /** BabelQueue's message attribute `bq-schema-version`. */
  schemaVersion?: string;
  /** The X-Ray trace that the sender's AWS SDK put on the message. */
  xRayTraceId?: string;
};

export type Result = {
  delivery: Delivery;
  messageId?: string;
  traceId?: string;
  ending: Ending | (Attempt & { decision: "invalid"; violation: Violation });
};

/** Processes a batch. Results are in the order of the deliveries. Never throws. */
export function processBatch(
  deliveries: readonly Delivery[],
  deps: Deps,
  deadline: Deadline,
): Promise<Result[]> {
  // By message id: the runs in this batch, each with what it would charge.
  const running = new Map<string, { fingerprint: string; ending: Promise<Ending> }[]>();

  const runOnce = (message: PaymentMessage): Promise<Ending> => {
    const runs = running.get(message.id) ?? [];
    running.set(message.id, runs);
    const print = fingerprint(chargeParams(message));
    const same = runs.find((run) => run.fingerprint === print);
    if (same) return same.ending.then(endingOfCopy);
    // Another payment under the same id: after the first, so that the table judges it.
    const before = runs.at(-1)?.ending;
    const run = () => processMessage(message, deps, deadline);
    const ending = before ? before.then(run) : run();
    runs.push({ fingerprint: print, ending });
    return ending;
  };

  const deliver = async (delivery: Delivery): Promise<Result> => {
    const { body, schemaVersion } = delivery;
    const decoded = decodeMessage(body, deps.now(), deps.timings, schemaVersion);
    if (decoded.kind === "invalid") {
      const { violation, messageId } = decoded;
      const ending = { decision: "invalid" as const, violation };
      return { delivery, ...(messageId && { messageId }), ending };
    }
    const { id: messageId, traceId } = decoded.message;
    const ending = await runOnce(decoded.message);
    return { delivery, messageId, ...(traceId && { traceId }), ending };
  };

  return Promise.all(
    deliveries.map((delivery) =>
      // A bug that one message hits must not bring the others back too.
      deliver(delivery).catch((cause: unknown): Result => {
        return { delivery, ending: { decision: "transient", error: describeError(cause) } };
      }),
    ),
  );
}

/** How a delivery ends that waited for another of the same message: nothing was done for it. */
function endingOfCopy(ending: Ending): Ending {
  if (ending.decision === "completed") return { decision: "duplicate", outcome: ending.outcome };
  return ending.takeover ? { ...ending, takeover: false } : ending;
}

/**
 * Seconds until a delivery that failed may be received again; undefined when it is to be
 * acknowledged. `random` is from 0 to 1.
 */
export function retryDelaySeconds(
  { ending, delivery }: Result,
  timings: WorkerTimings,
  now: number,
  random: number,
): number | undefined {
  switch (ending.decision) {
    case "completed":
    case "duplicate":
      return undefined;
    case "invalid":
    case "conflict":
    case "rejected":
      return 0; // on to the dead-letter queue without waiting
    case "in_progress":
      return Math.max(1, Math.ceil((ending.leaseExpiresAt - now) / 1_000));
    case "transient":
    case "lease_lost":
    case "not_started": {
      // Spread over the upper half: all of it could be so short that an outage uses up the receives.
      const ceiling = backoffCeilingMs(timings, delivery.receiveCount);
      return Math.max(1, Math.ceil((ceiling / 2 + (ceiling / 2) * random) / 1_000));
    }
  }
}

const UNAVAILABLE: ReadonlySet<AttemptError["kind"]> = new Set([
  "stripe_unavailable",
  "stripe_rate_limited",
  "stripe_configuration",
  "table_unavailable",
]);

/**
 * Whether every delivery failed because Stripe or DynamoDB was unavailable: then the whole batch
 * has to fail, because Lambda's pollers slow down on errors and not on partial failures.
 */
export function allUnavailable(results: readonly Result[]): boolean {
  return (
    results.length > 0 &&
    results.every(
      ({ ending }) => ending.decision === "transient" && UNAVAILABLE.has(ending.error.kind),
    )
  );
}
