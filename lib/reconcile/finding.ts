// What a suspicion comes to when both sides have been read again: they were read at different times,
// and a payment may have ended in between.

import type { IdempotencyRecord, Outcome } from "../payments/record.ts";
import { hasLiveLease } from "./compare.ts";
import { compareWithStripe } from "./comparison.ts";
import type { Difference, StripeState } from "./comparison.ts";

export type Finding = {
  messageId: string;
  kind: Difference;
  /** What the record says; absent when it has no outcome, or there is no record. */
  recorded?: Outcome;
  atStripe: StripeState[];
};

// As the worker's own lookup: what was created before the first claim is another payment's.
const LOOK_BACK_MS = 5 * 60_000;

/** The finding, or undefined when record and Stripe agree. `now` is in epoch ms. */
export function findingOf(
  messageId: string,
  record: IdempotencyRecord | undefined,
  states: readonly StripeState[],
  now: number,
): Finding | undefined {
  if (record && hasLiveLease(record, now)) return undefined;
  const atStripe = states.filter(
    ({ created }) => !record || record.outcome || created >= record.firstClaimedAt - LOOK_BACK_MS,
  );
  const { kind } = compareWithStripe(record, atStripe);
  const recorded = record?.outcome && { recorded: record.outcome };
  if (kind === "agree" || (kind === "nothing" && !record)) return undefined;
  return { messageId, kind: kind === "nothing" ? "open" : kind, ...recorded, atStripe };
}

/** The state that a repair records: what took the money, else whatever is an outcome. */
export function unrecordedState({ kind, atStripe }: Finding): StripeState | undefined {
  const comparison = compareWithStripe(undefined, atStripe);
  return kind === "not_recorded" && comparison.kind === "not_recorded"
    ? comparison.state
    : undefined;
}
