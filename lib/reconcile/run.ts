// What a reconciliation reads, and what it has done of a window so far: a value that can be kept, so that
// another process goes on from there.

import type { Finalized } from "../payments/finalize.ts";
import type { IdempotencyRecord } from "../payments/record.ts";
import type { IntentEntry, RecordEntry, Window } from "./compare.ts";
import type { Difference, StripeState } from "./comparison.ts";
import type { Finding } from "./finding.ts";
import { noTotals } from "./money.ts";
import type { Totals, Transaction } from "./money.ts";

/** Both sides. Every method may reject: then the slice fails as a whole, and is done again. */
export interface Books {
  /** The PaymentIntents with a message id that were created in the window, newest first. */
  intents(window: Window): AsyncIterable<IntentEntry>;
  /** What moved in Stripe's balance; undefined when the key may not read it. */
  transactions(window: Window): AsyncIterable<Transaction | undefined>;
  /** The records of the window; `unfinished`: and, however old, claims and open outcomes. */
  records(window: Window, options: { unfinished: boolean }): AsyncIterable<RecordEntry>;
  record(messageId: string): Promise<IdempotencyRecord | undefined>;
  /** Those PaymentIntents, with their charges when the balance may be read; none: what a search finds. */
  states(messageId: string, ids: readonly string[], balance: boolean): Promise<StripeState[]>;
  finalize(paymentIntentId: string): Promise<{ decision: Finalized["decision"] | "unavailable" }>;
}

/** What was done of a window so far. */
export type Run = {
  /** Whole seconds: Stripe knows no less. */
  window: Window;
  startedAt: number;
  /** What is left ends here: slices are taken from the window's end. */
  until: number;
  /** The most payments of a slice: what it needs of memory and time. */
  slicePayments: number;
  /** Those of the window, as the PaymentIntents are. */
  records: number;
  intents: number;
  agree: number;
  byKind: Partial<Record<Difference, number>>;
  /** The first of them. */
  findings: Finding[];
  /** False when the key may not read the balance: then the totals say nothing. */
  balanceRead: boolean;
  totals: Totals;
  /** How many recorded outcomes were moved forward. */
  advanced: number;
  /** Outcomes that are still open after they should not be. */
  openTooLong: string[];
  /** How many suspicions there was no time to read again, and open outcomes to ask about. */
  unread: number;
};

/** Smaller slices than this are not made: what there is no time for is left out. */
export const FEWEST_PAYMENTS = 1_000;

export function newRun(window: Window, startedAt: number, slicePayments: number): Run {
  return {
    window,
    startedAt,
    until: window.until,
    slicePayments,
    records: 0,
    intents: 0,
    agree: 0,
    byKind: {},
    findings: [],
    balanceRead: true,
    totals: noTotals(),
    advanced: 0,
    openTooLong: [],
    unread: 0,
  };
}

export const isDone = ({ until, window }: Run): boolean => until <= window.since;

/** The same run, for a process that has too little time for a slice of that size. */
export const inSmallerSlices = (run: Run): Run => ({
  ...run,
  slicePayments: Math.max(FEWEST_PAYMENTS, Math.floor(run.slicePayments / 2)),
});
