// Both sides of a reconciliation in memory: payments of 12.00 EUR each.

import type { IdempotencyRecord, Outcome } from "../../lib/payments/record.ts";
import type { IntentEntry } from "../../lib/reconcile/compare.ts";
import type { Transaction } from "../../lib/reconcile/money.ts";
import type { Books } from "../../lib/reconcile/run.ts";
import { claimed } from "./record.ts";

export const MONEY = { amount: 1_200, currency: "eur" };

export const outcome = (
  n: number | string,
  result: "succeeded" | "processing" = "succeeded",
): Outcome => ({ result, paymentIntentId: `pi_${n}` });

export const record = (
  messageId: string,
  firstClaimedAt: number,
  outcome?: Outcome,
): IdempotencyRecord =>
  claimed({
    messageId,
    firstClaimedAt,
    ...(outcome && { status: "COMPLETED", outcome, ...MONEY }),
  });

export const intent = (
  n: number | string,
  created: number,
  messageId = `order-${n}`,
): IntentEntry => ({
  what: "intent",
  messageId,
  paymentIntentId: `pi_${n}`,
  created,
  status: "succeeded",
  outcome: outcome(n),
  ...MONEY,
});

export type Held = {
  intents?: IntentEntry[];
  records?: IdempotencyRecord[];
  /** An `undefined` one: the key may not read the balance. */
  transactions?: (Transaction | undefined)[];
  finalized?: "advanced" | "duplicate";
  /** What is recorded when it is read again. */
  later?: IdempotencyRecord | undefined;
};

/** Books that hold this, and what they were asked for, with times that count from `origin`. */
export function booksOf(held: Held, origin = 0): { books: Books; asked: unknown[][] } {
  const { intents = [], records = [], transactions = [], finalized = "duplicate", later } = held;
  const asked: unknown[][] = [];
  const books: Books = {
    async *intents({ since, until }) {
      asked.push(["intents", since - origin, until - origin]);
      yield* intents.filter(({ created }) => created >= since && created < until);
    },
    async *transactions({ since, until }) {
      asked.push(["transactions", since - origin, until - origin]);
      yield* transactions.filter((one) => !one || (one.created >= since && one.created < until));
    },
    async *records({ since, until }, { unfinished }) {
      asked.push(["records", since - origin, until - origin, unfinished]);
      for (const one of records) {
        const open = !one.outcome || one.outcome.result !== "succeeded";
        const near = one.firstClaimedAt >= since && one.firstClaimedAt <= until;
        if (near || (unfinished && open)) yield { what: "record", ...one };
      }
    },
    async record(id) {
      asked.push(["record", id]);
      return later ?? records.find(({ messageId }) => messageId === id);
    },
    async states(id, ids, balance) {
      asked.push(["states", id, ids, balance]);
      const charge = { messageId: id, inBalance: MONEY };
      return intents
        .filter(({ messageId }) => messageId === id)
        .map((one) => ({ ...one, ...(balance && { charge }) }));
    },
    async finalize(id) {
      asked.push(["finalize", id]);
      return { decision: finalized };
    },
  };
  return { books, asked };
}
