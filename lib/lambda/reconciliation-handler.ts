// The scheduled reconciliation: runs, and reports each finding as a line with its metric. A run that
// fails is no heartbeat, and the next one covers the same hours again.

import { reconcile } from "../reconcile/run.ts";
import type { Books, Report } from "../reconcile/run.ts";
import { count, embedMetrics } from "./emf.ts";
import type { LogLine, Metric } from "./emf.ts";

const HOUR_MS = 60 * 60 * 1_000;
const DAY_MS = 24 * HOUR_MS;

/** A day and two hours back, and not the last two hours: Stripe's list may be behind. */
export const WINDOW_MS = { from: 26 * HOUR_MS, to: 2 * HOUR_MS } as const;

const SWEEP_AFTER_MS = HOUR_MS;
const OPEN_TOO_LONG_MS = 20 * DAY_MS; // SEPA takes up to 14 business days

// Left at the end of an invocation, to report what was found.
const RESERVE_MS = 30_000;

export type ReconciliationDeps = {
  books: Books;
  functionName: string;
  /** Epoch ms. */
  now: () => number;
  write: (line: LogLine) => void;
};

type Context = { awsRequestId: string; getRemainingTimeInMillis: () => number };

/** @throws what kept it from reading both sides: Lambda counts an error, and no heartbeat is written */
export function createReconciliation({ books, functionName, now, write }: ReconciliationDeps) {
  return async (_event: unknown, context: Context): Promise<Summary> => {
    const startedAt = now();
    const window = { since: startedAt - WINDOW_MS.from, until: startedAt - WINDOW_MS.to };
    const report = await reconcile(books, window, startedAt, {
      sweepAfterMs: SWEEP_AFTER_MS,
      openTooLongMs: OPEN_TOO_LONG_MS,
      hasTime: () => context.getRemainingTimeInMillis() > RESERVE_MS,
    });
    const line = (level: string, message: string, fields: LogLine, metrics: Metric[]) =>
      write({
        timestamp: new Date(now()).toISOString(),
        level,
        message,
        ...fields,
        requestId: context.awsRequestId,
        ...embedMetrics(metrics, functionName, now()),
      });
    for (const { messageId, kind, recorded, atStripe } of report.findings) {
      const ids = atStripe.map(({ paymentIntentId }) => paymentIntentId);
      const fields = { kind, messageId, recorded: recorded?.result, atStripe: ids };
      line("ERROR", `reconciliation: ${kind}`, fields, [
        count("ReconciliationFinding", "kind"),
        ...(kind === "charged_twice" ? [count("DoubleCharge")] : []),
      ]);
    }
    for (const messageId of report.openTooLong) {
      line("WARN", "open too long", { messageId }, [count("OpenTooLong")]);
    }
    const summary = summaryOf(report);
    line("INFO", "reconciliation done", summary, [count("Reconciled")]);
    return summary;
  };
}

type Summary = ReturnType<typeof summaryOf>;

function summaryOf({ window, findings, openTooLong, ...counts }: Report) {
  return {
    ...counts,
    since: new Date(window.since).toISOString(),
    until: new Date(window.until).toISOString(),
    findings: findings.length,
    openTooLong: openTooLong.length,
  };
}
