// From changes of the records table to outcome events on the bus: one event per revision of an
// outcome, at least once, and a checkpoint that never skips one.

import { outcomeEvent, revisionOf } from "./event.ts";
import type { OutcomeEvent, RecordedOutcome } from "./event.ts";
import type { PaymentNotice } from "./notice.ts";

/** One change of the table, in the order of its shard. */
export type RecordChange = {
  sequenceNumber: string;
  before?: Partial<RecordedOutcome>;
  after?: Partial<RecordedOutcome>;
};

/** The bus. */
export interface OutcomeBus {
  /**
   * Publishes up to 10 events; one error code, or undefined, for each in the same order.
   *
   * @throws Error when the bus did not answer: any of them may have been published
   */
  publish(
    events: readonly (OutcomeEvent | PaymentNotice)[],
    timeoutMs: number,
  ): Promise<(string | undefined)[]>;
}

/** How one change ended. */
export type PublishResult = {
  sequenceNumber: string;
  messageId?: string;
} & (
  | { decision: "published"; event: OutcomeEvent }
  /** The outcome did not change: nothing to publish. */
  | { decision: "unchanged" }
  | { decision: "failed"; code: string }
);

const BUS_BATCH = 10;

/**
 * Publishes what changed. What cannot be published fails alone; no other event waits for it,
 * and those behind it are published again with the same id. Never throws.
 */
export async function publishChanges(
  changes: readonly RecordChange[],
  source: string,
  bus: OutcomeBus,
  timeoutMs: () => number,
): Promise<PublishResult[]> {
  const results = changes.map((change): PublishResult => classifyChange(change, source));
  const due = results.flatMap((result, index) =>
    result.decision === "published" ? [{ index, result }] : [],
  );
  for (let from = 0; from < due.length; from += BUS_BATCH) {
    const batch = due.slice(from, from + BUS_BATCH);
    const codes = await bus
      .publish(
        batch.map(({ result }) => result.event),
        timeoutMs(),
      )
      .catch((cause: unknown) =>
        batch.map(() => (cause instanceof Error ? cause.name : "unknown")),
      );
    for (const [position, { index, result }] of batch.entries()) {
      // An answer that is missing is not a success.
      const code = position < codes.length ? codes[position] : "NoEntry";
      const { sequenceNumber, messageId } = result;
      if (code !== undefined) {
        results[index] = {
          sequenceNumber,
          ...(messageId && { messageId }),
          decision: "failed",
          code,
        };
      }
    }
  }
  return results;
}

function classifyChange(
  { sequenceNumber, before, after }: RecordChange,
  source: string,
): PublishResult {
  const messageId = after?.messageId;
  const known = { sequenceNumber, ...(messageId !== undefined && { messageId }) };
  if (!after?.outcome || revisionOf(before) === revisionOf(after)) {
    return { ...known, decision: "unchanged" };
  }
  if (messageId === undefined || typeof after.outcome.result !== "string") {
    return { ...known, decision: "failed", code: "MalformedRecord" };
  }
  try {
    const event = outcomeEvent({ ...after, messageId, outcome: after.outcome }, source);
    return { ...known, decision: "published", event };
  } catch {
    return { ...known, decision: "failed", code: "MalformedRecord" }; // a time that is none
  }
}

/**
 * Where Lambda continues: at the first change that failed. It takes the lowest sequence number
 * itself, but only of those that it is given.
 * https://docs.aws.amazon.com/lambda/latest/dg/services-ddb-batchfailurereporting.html
 */
export function firstFailure(results: readonly PublishResult[]): string | undefined {
  return results.find(({ decision }) => decision === "failed")?.sequenceNumber;
}
