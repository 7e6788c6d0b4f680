// The scenarios that are explored exhaustively: one message id, two workers, three deliveries.

import { HOUR, MINUTE, PAYMENT, SECOND } from "../world/scenario.ts";
import type { Scenario, Send } from "../world/scenario.ts";

/** What a scenario is where its variant says nothing else. */
export const USUAL: Omit<Scenario, "name" | "faults"> = {
  sends: [PAYMENT],
  clocks: [0, 0],
  stripeClock: 0,
  strangers: "none",
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

const paidBy = (kind: string): Send => ({ ...PAYMENT, paymentMethod: `pm_${kind}_1` });

// The sender's clock is ahead, by almost as much as it may be.
const AHEAD: Send = { ...PAYMENT, createdAt: 4 * MINUTE };

/** One after the other, each after the retries of the last. */
const inTurn = (...sends: readonly Partial<Send>[]): Send[] =>
  sends.map((send, i) => ({ ...PAYMENT, at: i * 10 * MINUTE, ...send }));

const VARIANTS: readonly (Partial<Scenario> & { name: string })[] = [
  // Those with few schedules first.
  { name: "one message" },
  { name: "a declined card", sends: [paidBy("declined")] },
  { name: "a bank debit", sends: [paidBy("bankDebit")] },
  {
    name: "an amount with decimals",
    sends: [{ ...PAYMENT, amount: "78.4", invalid: true }],
    maxReceiveCount: 3,
  },
  {
    name: "an hour without Stripe",
    sends: [1, 2, 3].map((n) => ({
      ...PAYMENT,
      messageId: `pay-${n}`,
      paymentMethod: `pm_card_${n}`,
    })),
    batchSize: 5,
    stripeDown: [0, HOUR],
    deliveries: 0, // one schedule: the shortest backoff, and a poller that never slows down
  },
  { name: "an hour with a key of the wrong mode", wrongKey: [0, HOUR], deliveries: 0 },
  {
    name: "ids that resemble each other",
    deliveries: 0,
    sends: inTurn(
      {},
      { messageId: "PAY-1", paymentMethod: "pm_card_2" },
      { messageId: "pay-10", paymentMethod: "pm_card_3" },
      { messageId: "pay-", paymentMethod: "pm_card_4" },
    ),
  },
  {
    name: "one id, and payments that differ in one field",
    deliveries: 0,
    sends: inTurn(
      {},
      { currency: "usd" },
      { customer: "cus_2" },
      { paymentMethod: "pm_card_2" },
      { description: "Order 2" },
      { metadata: { order: "2" } },
      { metadata: {} },
    ),
    maxReceiveCount: 4,
  },
  { name: "two copies in one batch", sends: [PAYMENT, PAYMENT], batchSize: 2 },
  {
    name: "a redrive after 25 hours",
    strangers: "alike",
    maxReceiveCount: 1,
    redrivesAt: [25 * HOUR],
    stripeClock: -30 * SECOND,
  },
  {
    name: "a redrive after 25 hours, and a customer with many payments",
    strangers: "pages",
    maxReceiveCount: 1,
    redrivesAt: [25 * HOUR],
  },
  ...["abandoned", "reset", "captured", "confirmed"].map((kind) => ({
    name: `a redrive after 25 hours, of a payment that was ${kind}`,
    sends: [paidBy(kind)],
    maxReceiveCount: 1,
    redrivesAt: [25 * HOUR],
  })),
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
    sends: [AHEAD, { ...AHEAD, at: 25 * HOUR }],
    stripeClock: -2 * MINUTE,
    maxReceiveCount: 1,
    redrivesAt: [25 * HOUR],
  },
  {
    name: "another amount a day later",
    sends: [PAYMENT, { ...PAYMENT, amount: "700", at: 25 * HOUR }],
    maxReceiveCount: 2,
  },
  { name: "a redrive after an hour", maxReceiveCount: 3, redrivesAt: [HOUR] },
  {
    name: "a repeat a day later, under a new sender's time",
    sends: [PAYMENT, { ...PAYMENT, at: 25 * HOUR, createdAt: 25 * HOUR }],
    maxReceiveCount: 1,
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
  return VARIANTS.map((variant): Scenario => ({ ...USUAL, ...variant, faults }));
}
