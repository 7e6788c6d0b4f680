// The scenarios with the publisher and the finalizer: those that are explored exhaustively, and a
// random one.

import { MOVING } from "../models/stripe-objects.ts";
import { HOUR, MINUTE, PAYMENT } from "../world/scenario.ts";
import type { OutcomeSettings, Scenario, Send } from "../world/scenario.ts";
import type { Choose } from "./choices.ts";
import { oneOf, randomSends, usually } from "./random-scenario.ts";
import { USUAL as ONE_MESSAGE } from "./scenarios.ts";

/** One worker; the deliveries are those of messages, events and batches of the stream. */
const USUAL = { ...ONE_MESSAGE, clocks: [0] };

const OUTCOMES: OutcomeSettings = {
  actors: ["finalizer"],
  filtered: true,
  batchSize: 2,
  byHand: "none",
};

const paidBy = (kind: string, number = 1): Send => ({
  ...PAYMENT,
  messageId: `pay-${number}`,
  paymentMethod: `pm_${kind}_${number}`,
});

type Variant = Partial<Scenario> & { name: string; settings?: Partial<OutcomeSettings> };

const VARIANTS: readonly Variant[] = [
  { name: "outcomes published", settings: { actors: ["publisher"] } },
  {
    name: "outcomes published in batches",
    sends: [paidBy("card"), paidBy("declined", 2)],
    batchSize: 2,
    settings: { actors: ["publisher"] },
  },
  {
    name: "outcomes published without a filter",
    settings: { actors: ["publisher"], filtered: false },
  },
  { name: "a debit that is paid", sends: [paidBy("debit")] },
  { name: "a debit that bounces", sends: [paidBy("bounced")] },
  { name: "an action that is abandoned", sends: [paidBy("left")] },
  { name: "a declined card, then another", sends: [paidBy("unpaid")] },
  { name: "a debit that is retried", sends: [paidBy("retried")], deliveries: 2 },
  {
    name: "a debit, published",
    sends: [paidBy("debit")],
    deliveries: 2,
    settings: { actors: ["publisher", "finalizer"] },
  },
  { name: "a second payment by hand", deliveries: 2, settings: { byHand: "second" } },
  {
    name: "a second payment by hand, of a debit",
    sends: [paidBy("left")],
    deliveries: 2,
    settings: { byHand: "second" },
  },
  { name: "payments of others", sends: [], settings: { byHand: "others" } },
];

/** Every scenario, each with at most `faults` faults. */
export function outcomeScenarios(faults: number): Scenario[] {
  return VARIANTS.map(({ settings, ...variant }): Scenario => ({
    ...USUAL,
    ...variant,
    outcomes: { ...OUTCOMES, ...settings },
    faults,
  }));
}

/** Draws a scenario with at most `depth` faults, by the same number of choices each time. */
export function randomOutcomes(choose: Choose, depth: number): Scenario {
  const either = () => oneOf(choose, [true, false]);
  return {
    ...USUAL,
    name: "random outcomes",
    sends: randomSends(choose, ["debit", "card", ...Object.keys(MOVING)]),
    clocks: oneOf(choose, [
      [0, 0],
      [-2_500, 2_500],
    ]),
    batchSize: usually(choose, 1, 3),
    maxReceiveCount: oneOf(choose, [14, 4]),
    prunesKeys: usually(choose, true, false),
    takesStaleReceipts: either(),
    longestBacklogMs: usually(choose, MINUTE, HOUR),
    faults: choose([1, ...Array<number>(depth).fill(2)]),
    stepsPerFault: oneOf(choose, [6, 12, 30]),
    deliveries: oneOf(choose, [10, 20, 40]),
    outcomes: {
      actors: ["publisher", "finalizer"],
      filtered: usually(choose, true, false),
      batchSize: oneOf(choose, [1, 2, 3, 10]),
      byHand: usually(choose, "none", "second", "others"),
    },
  };
}
