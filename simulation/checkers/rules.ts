// The guarantee's rules by name, and their violation. Safety: nothing bad ever happens, checked at
// every step. Liveness: the good thing happens in the end, checked when nothing can happen any more.

import type { Queue } from "../models/queue.ts";

/** A broken rule: its name, and what was seen. */
export class Violation extends Error {
  override name = "Violation";
  readonly rule: Rule;
  constructor(rule: Rule, seen: string) {
    super(`${RULES[rule]}: ${seen}`);
    this.rule = rule;
  }
}

const SAFETY = {
  one_charge: "at most one PaymentIntent for a message id",
  what_was_sent: "Stripe is asked for exactly what the message says, and for one payment per id",
  invalid: "an invalid message never reaches Stripe",
  deduplication_window: "a message older than the deduplication window never reaches Stripe",
  claimed_first: "only a worker that has had the claim asks Stripe for a charge",
  only_owner: "only the owner of a claim completes or releases it",
  right_mode: "no request carries a key of the wrong mode",
  live_claim: "the claim of a worker that is still running is never taken over",
  true_outcome: "a recorded outcome is what Stripe's ledger says",
  same_outcome: "a recorded outcome only moves forward",
  asked_once: "what Stripe rejected is asked for once per chain of receives, by its first receive",
  revision: "an outcome is recorded with revision 1, and each move forward adds one",
  invented:
    "nothing but an outcome moves forward: no other integration's, and none without a record",
  one_event: "an outcome event has one id, of its message and revision, and one content",
  recorded_first: "an outcome event says what is in the record",
  event_done: "an event that is acknowledged is in the record",
  double_charge: "a second PaymentIntent with a message id is reported",
  paid_for: "goods leave once for an order, and it is paid, only when Stripe has charged for it",
  books: "debits equal credits, and what Stripe charged for each paid order; no line is changed",
  stock: "stock and shipments together are what there was, and no stock is below 0",
  paid_stays: "an order that is paid stays paid",
  applied: "an outcome event that is acknowledged has reached its order",
  one_payment: "the door accepts one payment for a key, and sends no other",
  said_why: "the door calls invalid what is, and used a key that another payment has",
  record_lives: "a record lives longer than any message that is accepted, and not for ever",
  acknowledged: "an acknowledged message has an outcome in the table, and it is Stripe's",
  damaged: "a record that is damaged is never taken over",
  own_claim: "a worker never waits for its own claim",
  planned: "the worker meets nothing that it has no plan for",
} as const;

const LIVENESS = {
  no_silence: "every message ends acknowledged or in the dead-letter queue, with its reason logged",
  recovers: "once faults stop, a message that can still be received ends with its outcome",
  accepted: "what the door accepts ends with an outcome or in the dead-letter queue",
  published: "every revision of an outcome is published",
  finalized: "nothing stays open once Stripe's events or a sweep come through",
  ends: "every schedule ends",
} as const;

export const RULES = { ...SAFETY, ...LIVENESS };

export type Rule = keyof typeof RULES;

/** Throws, unless another rule alone is looked at. */
export function violate({ only }: { only: Rule | undefined }, rule: Rule, seen: string): void {
  if (only === undefined || only === rule) throw new Violation(rule, seen);
}

const LEFT = { queue: "still in its queue", expired: "deleted by SQS" } as const;

/** Nothing can happen any more: no message is left, or has gone in silence. */
export function checkLeft<S>(
  world: { only: Rule | undefined },
  { messages }: Queue<S>,
  nameOf: (sent: S, sqsMessageId: string) => string,
): void {
  for (const { place, sent, sqsMessageId } of messages) {
    if (place !== "queue" && place !== "expired") continue;
    violate(world, "no_silence", `${nameOf(sent, sqsMessageId)} is ${LEFT[place]}`);
  }
}
