// The scenarios that are explored exhaustively: one message id, two workers, three deliveries.

import { HOUR, MINUTE, SECOND } from "../world/scenario.ts";
import type { Scenario, Send } from "../world/scenario.ts";

const PAYMENT: Send = {
  at: 0,
  messageId: "pay-1",
  amount: "500",
  paymentMethod: "pm_card",
  createdAt: 0,
};

const USUAL: Omit<Scenario, "name" | "faults"> = {
  sends: [PAYMENT],
  clocks: [0, 0],
  stripeClock: 0,
  batchSize: 1,
  maxReceiveCount: 14,
  redrivesAt: [],
  prunesKeys: true,
  deletesExpired: true,
  takesStaleReceipts: true,
  longestBacklogMs: 0,
  stepsPerFault: 2, // not used: every fault gets its turn
  deliveries: 3,
};

const VARIANTS: readonly (Partial<Scenario> & { name: string })[] = [
  // Those with few schedules first.
  { name: "one message" },
  { name: "a declined card", sends: [{ ...PAYMENT, paymentMethod: "pm_declined" }] },
  { name: "a bank debit", sends: [{ ...PAYMENT, paymentMethod: "pm_bankDebit" }] },
  {
    name: "an amount with decimals",
    sends: [{ ...PAYMENT, amount: "78.4", invalid: true }],
    maxReceiveCount: 3,
  },
  {
    name: "an hour without Stripe",
    sends: Array.from({ length: 3 }, (_, i) => ({ ...PAYMENT, messageId: `pay-${i + 1}` })),
    batchSize: 5,
    stripeDown: [0, HOUR],
    deliveries: 0, // one schedule: the shortest backoff, and a poller that never slows down
  },
  { name: "two copies in one batch", sends: [PAYMENT, PAYMENT], batchSize: 2 },
  {
    name: "a redrive after 25 hours",
    maxReceiveCount: 1,
    redrivesAt: [25 * HOUR],
    stripeClock: -30 * SECOND,
  },
  {
    name: "redrives before and after Stripe forgets",
    maxReceiveCount: 1,
    redrivesAt: [22 * HOUR, 24 * HOUR + 30 * MINUTE],
  },
  {
    name: "a redrive after the end of the deduplication window",
    maxReceiveCount: 1,
    redrivesAt: [36 * 24 * HOUR],
  },
  {
    name: "a repeat while the redrive of a day later is running",
    sends: [PAYMENT, { ...PAYMENT, at: 25 * HOUR }],
    maxReceiveCount: 1,
    redrivesAt: [25 * HOUR],
  },
  { name: "a producer that repeats", sends: [PAYMENT, PAYMENT] },
  {
    name: "one id, two amounts",
    sends: [PAYMENT, { ...PAYMENT, amount: "700" }],
    maxReceiveCount: 4,
  },
  {
    name: "repeats, and workers whose clocks differ",
    sends: [PAYMENT, { ...PAYMENT, wrapped: true }],
    clocks: [-2_500, 2_500],
  },
];

/** Every scenario, each with at most `faults` faults. */
export function exhaustiveScenarios(faults: number): Scenario[] {
  const scenarioOf = (variant: (typeof VARIANTS)[number]): Scenario => ({
    ...USUAL,
    ...variant,
    faults,
  });
  return VARIANTS.map(scenarioOf);
}
