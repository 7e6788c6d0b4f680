// What a finished reconciliation reports: counts, sums, and the findings with both sides and what to do. No
// customer and no card.

import type { StripeState } from "./comparison.ts";
import { DIFFERENCES, SUMS_DIFFER } from "./differences.ts";
import type { Finding } from "./finding.ts";
import { differingSums } from "./money.ts";
import type { Run } from "./run.ts";

export function reportOf(run: Run, finishedAt: number) {
  const { window, findings, totals, balanceRead, byKind, openTooLong } = run;
  const { records, intents, agree, advanced, unread } = run;
  return {
    since: iso(window.since),
    until: iso(window.until),
    startedAt: iso(run.startedAt),
    finishedAt: iso(finishedAt),
    records,
    intents,
    agree,
    advanced,
    unread,
    byKind,
    balance: balanceRead
      ? { ...totals, differences: differingSums(totals), ifThereAreAny: SUMS_DIFFER }
      : "not read: the Stripe key may not",
    openTooLong,
    findings: findings.map(shownFinding),
  };
}

/** `2026-11-30T10-00-00Z.json`: by the window, so that the same run done twice is one report. */
export const reportName = ({ window }: Run): string =>
  `${iso(window.until).slice(0, 19).replaceAll(":", "-")}Z.json`;

/** Both sides and what to do, for a log and a report. */
export function shownFinding({ messageId, kind, recorded, atStripe }: Finding) {
  return {
    kind,
    messageId,
    recorded: recorded && { ...recorded },
    atStripe: atStripe.map((state) => shownState(kind, state)),
    next: DIFFERENCES[kind].next,
  };
}

function shownState(kind: Finding["kind"], state: StripeState) {
  const { paymentIntentId, status, amount, currency, charge, messageId, customer } = state;
  return {
    paymentIntentId,
    status,
    amount,
    currency,
    ...(charge?.inBalance && { inBalance: charge.inBalance }),
    ...(kind === "edited" && {
      messageIdNow: messageId,
      messageIdCharged: charge?.messageId,
      customerChanged: charge?.customer !== undefined && charge.customer !== customer,
    }),
  };
}

const iso = (ms: number): string => new Date(ms).toISOString();
