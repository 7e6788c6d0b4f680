// The rules of the promise, by name, and their violation.

import type { World } from "./world.ts";

/** A broken invariant: its name, and what was seen. */
export class Violation extends Error {
  override name = "Violation";
  readonly rule: Rule;
  constructor(rule: Rule, seen: string) {
    super(`${RULES[rule]}: ${seen}`);
    this.rule = rule;
  }
}

export const RULES = {
  one_charge: "at most one PaymentIntent for a message id",
  what_was_sent: "Stripe is asked for exactly what the message says, and for one payment an id",
  refusals: "a message that is refused never reaches Stripe",
  memory: "a message older than the memory never reaches Stripe",
  claimed_first: "nobody asks Stripe for a charge who never held the claim",
  only_owner: "only the owner of a claim completes or releases it",
  live_claim: "the claim of a worker that is still running is never taken over",
  true_outcome: "a recorded outcome is what Stripe's ledger says",
  same_outcome: "a recorded outcome never changes",
  record_lives: "a record lives longer than any message that is accepted, and not for ever",
  acknowledged: "an acknowledged message has an outcome in the table, and it is Stripe's",
  own_claim: "a worker never waits for its own claim",
  planned: "the worker meets nothing that it has no plan for",
  no_silence: "every message ends acknowledged or in the dead-letter queue, with its reason logged",
  mended: "once faults stop, a message that can still be received ends with its outcome",
  ends: "every schedule ends",
} as const;

export type Rule = keyof typeof RULES;

/** Throws, unless another rule's violation is looked for. */
export function breach({ only }: Pick<World, "only">, rule: Rule, seen: string): void {
  if (only === undefined || only === rule) throw new Violation(rule, seen);
}
