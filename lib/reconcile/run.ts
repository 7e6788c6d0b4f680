// One reconciliation: reads both sides of a window, compares them, reads what differs again, and moves
// forward what has been open for long. It writes nothing but what finalizing writes.

import type { Finalized } from "../payments/finalize.ts";
import type { IdempotencyRecord } from "../payments/record.ts";
import { compare } from "./compare.ts";
import type { IntentEntry, RecordEntry } from "./compare.ts";
import type { StripeState } from "./comparison.ts";
import { findingOf } from "./finding.ts";
import type { Finding } from "./finding.ts";

/** From and to, epoch ms. */
export type Window = { since: number; until: number };

/** Both sides. Every method may reject: then the run fails as a whole, and the next one covers for it. */
export interface Books {
  /** The PaymentIntents with a message id that were created in the window. */
  intents(window: Window): AsyncIterable<IntentEntry>;
  /** The records of the window, claims without a live lease and open outcomes, however old. */
  records(window: Window): AsyncIterable<RecordEntry>;
  record(messageId: string): Promise<IdempotencyRecord | undefined>;
  states(paymentIntentIds: readonly string[]): Promise<StripeState[]>;
  finalize(paymentIntentId: string): Promise<{ decision: Finalized["decision"] | "unavailable" }>;
}

export type Report = {
  window: Window;
  records: number;
  intents: number;
  agree: number;
  findings: Finding[];
  /** How many recorded outcomes were moved forward. */
  advanced: number;
  /** Outcomes that are still open after they should not be. */
  openTooLong: string[];
  /** How many suspicions there was no time to read again. */
  unread: number;
};

export type Limits = {
  /** An open outcome this old is asked about, ms. */
  sweepAfterMs: number;
  /** One this old is reported, ms: bank debits take up to 14 business days. */
  openTooLongMs: number;
  /** Whether there is time for more. */
  hasTime: () => boolean;
};

// A claim may be a little older than its charge, and a little younger.
const MARGIN_MS = 60 * 60 * 1_000;

/** @param now epoch ms */
export async function reconcile(
  books: Books,
  window: Window,
  now: number,
  { sweepAfterMs, openTooLongMs, hasTime }: Limits,
): Promise<Report> {
  const open: RecordEntry[] = [];
  const counts = { records: 0, intents: 0 };
  async function* entries() {
    for await (const intent of books.intents(window)) {
      counts.intents += 1;
      yield intent;
    }
    const wider = { since: window.since - MARGIN_MS, until: window.until + MARGIN_MS };
    for await (const record of books.records(wider)) {
      counts.records += 1;
      if (isOpen(record) && now - record.firstClaimedAt >= sweepAfterMs) open.push(record);
      yield record;
    }
  }
  const { agree, suspicions } = await compare(entries(), window, now);

  const report: Report = {
    window,
    ...counts,
    agree,
    findings: [],
    advanced: 0,
    openTooLong: [],
    unread: 0,
  };
  await sweep(open, books, report, now, openTooLongMs, hasTime);
  for (const { messageId, paymentIntentIds } of suspicions) {
    if (!hasTime()) {
      report.unread += 1;
      continue;
    }
    const record = await books.record(messageId);
    const states = await books.states(paymentIntentIds);
    const finding = findingOf(messageId, record, states, now);
    if (finding) report.findings.push(finding);
  }
  return { ...report, ...counts };
}

/** Asks about outcomes that have been open for long: their event was lost, or never came. */
async function sweep(
  open: readonly RecordEntry[],
  books: Books,
  report: Report,
  now: number,
  openTooLongMs: number,
  hasTime: () => boolean,
): Promise<void> {
  for (const { messageId, outcome, firstClaimedAt } of open) {
    if (outcome?.paymentIntentId === undefined || !hasTime()) continue;
    const { decision } = await books.finalize(outcome.paymentIntentId);
    if (decision === "advanced") report.advanced += 1;
    else if (now - firstClaimedAt >= openTooLongMs) report.openTooLong.push(messageId);
  }
}

function isOpen({ outcome }: RecordEntry): boolean {
  return outcome?.result === "processing" || outcome?.result === "requires_action";
}
