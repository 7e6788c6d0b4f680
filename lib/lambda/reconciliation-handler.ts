// The scheduled reconciliation: goes on with an unfinished run, or begins one when it is due, and reports
// each finding as a line with its metric. A run that fails is no heartbeat, and is gone on with.

import { keepable, readCheckpoint } from "../reconcile/checkpoint.ts";
import type { Reports } from "../reconcile/checkpoint.ts";
import { needsAction, SUMS_DIFFER } from "../reconcile/differences.ts";
import { differingSums } from "../reconcile/money.ts";
import { reportName, reportOf, shownFinding } from "../reconcile/report.ts";
import { inSmallerSlices, isDone, newRun } from "../reconcile/run.ts";
import type { Books, Run } from "../reconcile/run.ts";
import { nextSlice } from "../reconcile/slice.ts";
import type { Slice } from "../reconcile/slice.ts";
import { count, embedMetrics } from "./emf.ts";
import type { LogLine, Metric } from "./emf.ts";

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

const WINDOW_MS = DAY_MS;
/** Not the last two hours: Stripe's list may be behind, and its balance is. */
const DELAY_MS = 2 * HOUR_MS;
/** A run begins every hour. Its schedule comes more often, to go on with one, and a little off time. */
const EVERY_MS = HOUR_MS - 5 * MINUTE_MS;

const SWEEP_AFTER_MS = HOUR_MS;
const OPEN_TOO_LONG_MS = 20 * DAY_MS; // SEPA takes up to 14 business days

/** About 75 MB, and 100 s at Stripe. */
const SLICE_PAYMENTS = 50_000;
// Left at the end of an invocation, to report what was found.
const RESERVE_MS = 30_000;

export type ReconciliationDeps = {
  books: Books;
  reports: Reports;
  functionName: string;
  /** Epoch ms. */
  now: () => number;
  write: (line: LogLine) => void;
};

/** What an invocation by hand may ask for; the schedule asks for nothing. */
export type ReconciliationEvent = {
  /** Begins a run now, whenever the last one was. */
  now?: boolean;
  /** How far back the window ends. */
  delaySeconds?: number;
  slicePayments?: number;
};

type Context = { awsRequestId: string; getRemainingTimeInMillis: () => number };

type Ended = ({ done: true } & ReturnType<typeof countsOf>) | { done: false; left?: string };

/** @throws what kept it from reading both sides: Lambda counts an error, and no heartbeat is written */
export function createReconciliation(deps: ReconciliationDeps) {
  const { books, reports, functionName, now, write } = deps;
  return async (event: unknown, context: Context): Promise<Ended> => {
    const line: Line = (level, message, fields, metrics = []) =>
      write({
        timestamp: new Date(now()).toISOString(),
        level,
        message,
        ...fields,
        requestId: context.awsRequestId,
        ...embedMetrics(metrics, functionName, now()),
      });
    const startedAt = now();
    const asked = (event ?? {}) as ReconciliationEvent;
    const {
      run: unfinished,
      finished = 0,
      ignored,
    } = readCheckpoint(await reports.kept(), startedAt);
    if (ignored !== undefined) line("WARN", "checkpoint ignored", { reason: ignored });
    if (!unfinished && !asked.now && startedAt - finished < EVERY_MS) return { done: false };

    const limits = {
      sweepAfterMs: SWEEP_AFTER_MS,
      openTooLongMs: OPEN_TOO_LONG_MS,
      hasTime: () => context.getRemainingTimeInMillis() > RESERVE_MS,
    };
    let run = unfinished ?? begin(asked, startedAt);
    let longestMs = 0;
    while (!isDone(run)) {
      // A slice that cannot be finished is read in vain.
      if (context.getRemainingTimeInMillis() < RESERVE_MS + 1.5 * longestMs) break;
      const beganAt = now();
      const slice = await nextSlice(books, run, beganAt, limits);
      if (!slice) {
        run = inSmallerSlices(run);
        await reports.keep(keepable({ finished, run }));
        break;
      }
      // Reported before it is kept: killed in between, it is reported again, and never lost.
      reportSlice(slice, line);
      run = slice.run;
      if (!isDone(run)) await reports.keep(keepable({ finished, run }));
      longestMs = Math.max(longestMs, now() - beganAt);
    }
    if (!isDone(run)) {
      const left = `${iso(run.window.since)} to ${iso(run.until)}`;
      line("INFO", "reconciliation continues", { left, ...countsOf(run) });
      return { done: false, left };
    }
    reportSums(run, line);
    await reports.publish(reportName(run), reportOf(run, now()));
    await reports.keep(keepable({ finished: run.startedAt }));
    line("INFO", "reconciliation done", countsOf(run), [count("Reconciled")]);
    return { done: true, ...countsOf(run) };
  };
}

type Line = (level: string, message: string, fields: LogLine, metrics?: Metric[]) => void;

function begin({ delaySeconds, slicePayments }: ReconciliationEvent, now: number): Run {
  const delayMs = delaySeconds === undefined ? DELAY_MS : delaySeconds * 1_000;
  const until = Math.floor((now - delayMs) / 1_000) * 1_000;
  const window = { since: until - WINDOW_MS, until };
  return newRun(window, now, slicePayments ?? SLICE_PAYMENTS);
}

function reportSlice({ found, openTooLong }: Slice, line: Line): void {
  for (const finding of found) {
    const { kind } = finding;
    const action = needsAction(kind);
    line(action ? "ERROR" : "INFO", `reconciliation: ${kind}`, shownFinding(finding), [
      ...(action ? [count("ReconciliationFinding", "kind")] : []),
      ...(kind === "charged_twice" ? [count("DoubleCharge")] : []),
    ]);
  }
  for (const messageId of openTooLong) {
    line("WARN", "open too long", { messageId }, [count("OpenTooLong")]);
  }
}

function reportSums(run: Run, line: Line): void {
  if (!run.balanceRead) {
    const next = "Give the Stripe key the permissions that docs/deploy.md names.";
    line("WARN", "balance not read", { next });
    return;
  }
  for (const sums of differingSums(run.totals)) {
    const fields = { kind: "sums_differ", ...sums, next: SUMS_DIFFER };
    line("ERROR", "reconciliation: sums differ", fields, [
      count("ReconciliationFinding", "kind"),
      count("SumsDiffer"),
    ]);
  }
}

function countsOf({ window, byKind, openTooLong, ...run }: Run) {
  const { records, intents, agree, advanced, unread, balanceRead } = run;
  return {
    since: iso(window.since),
    until: iso(window.until),
    records,
    intents,
    agree,
    advanced,
    unread,
    balanceRead,
    findings: Object.values(byKind).reduce((sum, one) => sum + one, 0),
    openTooLong: openTooLong.length,
  };
}

const iso = (ms: number): string => new Date(ms).toISOString();
