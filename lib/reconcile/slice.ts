// A slice of a reconciliation: reads both sides of some of the window's payments, compares them, and reads
// what differs again. It writes nothing but what finalizing writes.

import { compare } from "./compare.ts";
import type { IntentEntry, MoneyEntry, RecordEntry, Suspicion, Window } from "./compare.ts";
import { addVerified, findingOf, wrongAccount } from "./finding.ts";
import type { Finding } from "./finding.ts";
import { addTransaction } from "./money.ts";
import { FEWEST_PAYMENTS } from "./run.ts";
import type { Books, Run } from "./run.ts";

export type Limits = {
  /** An open outcome this old is asked about, ms. */
  sweepAfterMs: number;
  /** One this old is reported, ms: bank debits take up to 14 business days. */
  openTooLongMs: number;
  /** Whether there is time for more. */
  hasTime: () => boolean;
};

export type Slice = { run: Run; found: Finding[]; openTooLong: string[] };

// A claim may be a little older than its charge, and a little younger.
const MARGIN_MS = 60 * 60_000;
// Of the charge and its transaction.
const MONEY_MARGIN_MS = 5 * 60_000;
const MOST_KEPT = 1_000;
const MOST_ASKED = 1_000;

/** Does the next slice. Undefined when there was not the time: nothing of it counts then. */
export async function nextSlice(
  books: Books,
  before: Run,
  now: number,
  limits: Limits,
): Promise<Slice | undefined> {
  const run = structuredClone(before);
  const first = run.until === run.window.until;
  const read = await readSlice(books, run, now, { ...limits, first });
  if (!read) return undefined;
  // First: what is moved forward is no difference any more.
  const openTooLong = await sweep(read.open, books, run, now, limits);
  const found: Finding[] = [];
  for (const suspicion of read.suspicions) {
    if (!limits.hasTime()) {
      if (run.slicePayments > FEWEST_PAYMENTS) return undefined;
      run.unread += 1;
      continue;
    }
    const finding = await verify(books, run, suspicion, now);
    if (finding) found.push(finding);
  }
  for (const { kind } of found) run.byKind[kind] = (run.byKind[kind] ?? 0) + 1;
  run.findings = [...run.findings, ...found].slice(0, MOST_KEPT);
  const wrong = wrongAccount(run.intents, run.byKind.not_at_stripe ?? 0);
  if (wrong !== undefined) throw new Error(wrong);
  run.openTooLong.push(...openTooLong);
  return { run: { ...run, until: read.since }, found, openTooLong };
}

/** Reads both sides of the newest payments that are left, and compares them. */
async function readSlice(
  books: Books,
  run: Run,
  now: number,
  { first, hasTime, sweepAfterMs }: Limits & { first: boolean },
): Promise<{ since: number; suspicions: Suspicion[]; open: RecordEntry[] } | undefined> {
  const { window, until, slicePayments } = run;
  const intents: IntentEntry[] = [];
  let { since } = window;
  for await (const intent of books.intents({ since, until })) {
    if (!hasTime()) return undefined;
    const last = intents.at(-1)?.created ?? until;
    if (intents.length >= slicePayments && intent.created < last) {
      since = last;
      break;
    }
    intents.push(intent);
  }
  const money = await readMoney(books, run, { since, until });
  const open: RecordEntry[] = [];
  // Claims were compared with all that Stripe has by the first slice.
  const claims = new Set<string>();
  async function* entries() {
    yield* intents;
    yield* money;
    const wider = { since: since - MARGIN_MS, until: until + MARGIN_MS };
    for await (const record of books.records(wider, { unfinished: first })) {
      if (!hasTime()) return;
      if (record.firstClaimedAt >= since && record.firstClaimedAt < until) run.records += 1;
      const old = now - record.firstClaimedAt >= sweepAfterMs;
      if (first && old && isOpen(record)) open.push(record);
      if (!first && !record.outcome) claims.add(record.messageId);
      yield record;
    }
  }
  const period = { since, until: until - 1 };
  const totals = run.balanceRead ? run.totals : undefined;
  const { agree, suspicions } = await compare(entries(), period, now, totals);
  if (!hasTime()) return undefined;
  run.intents += intents.length;
  run.agree += agree;
  return {
    since,
    suspicions: suspicions.filter(({ messageId }) => !claims.has(messageId)),
    open,
  };
}

/** What moved in the balance around the slice; its own movements are added to the totals. */
async function readMoney(books: Books, run: Run, { since, until }: Window): Promise<MoneyEntry[]> {
  const money: MoneyEntry[] = [];
  if (!run.balanceRead) return money;
  const near = { since: since - MONEY_MARGIN_MS, until: until + MONEY_MARGIN_MS };
  for await (const transaction of books.transactions(near)) {
    if (!transaction) {
      run.balanceRead = false;
      return [];
    }
    const { transactionId, created, charge } = transaction;
    if (created >= since && created < until) addTransaction(run.totals, transaction);
    if (charge) money.push({ what: "money", transactionId, created, ...charge });
  }
  return money;
}

/** Reads a suspicion again. */
async function verify(
  books: Books,
  run: Run,
  { messageId, paymentIntentIds, counted }: Suspicion,
  now: number,
): Promise<Finding | undefined> {
  const record = await books.record(messageId);
  const states = await books.states(messageId, paymentIntentIds, run.balanceRead);
  if (counted && run.balanceRead) addVerified(run.totals, messageId, record, states, now);
  return findingOf(messageId, record, states, now);
}

/**
 * Asks about outcomes that have been open for long: their event was lost, or never came. Of very many,
 * other ones each hour.
 */
async function sweep(
  open: readonly RecordEntry[],
  books: Books,
  run: Run,
  now: number,
  { openTooLongMs, hasTime }: Limits,
): Promise<string[]> {
  const tooLong: string[] = [];
  const turn = (Math.floor(run.startedAt / 3_600_000) * MOST_ASKED) % Math.max(1, open.length);
  const asked = [...open.slice(turn), ...open.slice(0, turn)].slice(0, MOST_ASKED);
  for (const { messageId, outcome, firstClaimedAt } of asked) {
    if (outcome?.paymentIntentId === undefined) continue;
    if (!hasTime()) {
      run.unread += 1;
      continue;
    }
    const { decision } = await books.finalize(outcome.paymentIntentId);
    if (decision === "advanced") run.advanced += 1;
    else if (now - firstClaimedAt >= openTooLongMs) tooLong.push(messageId);
  }
  return tooLong;
}

function isOpen({ outcome }: RecordEntry): boolean {
  return outcome?.result === "processing" || outcome?.result === "requires_action";
}
