// What a reconciliation reports: to a person, and to a script.
import { styleText } from "node:util";

import type { Difference } from "../../lib/reconcile/comparison.ts";
import { DIFFERENCES, needsAction, SUMS_DIFFER } from "../../lib/reconcile/differences.ts";
import type { Finding } from "../../lib/reconcile/finding.ts";
import { differingSums } from "../../lib/reconcile/money.ts";
import { describeRecorded, describeStates } from "../explain/explain-difference.ts";
import { plural, utc } from "../terminal/print.ts";
import { duration } from "../terminal/progress.ts";
import { table } from "../terminal/table.ts";
import type { Checkpoint } from "./checkpoint.ts";
import type { Findings } from "./findings.ts";

const SHOWN = 100;

export type Repaired = { messageId: string; recorded: boolean; sentence: string };

export type Found = {
  counts: Partial<Record<Difference, number>>;
  total: number;
  /** How many of them an operator has to act on. */
  action: number;
  /** The first of them: all are in the file. */
  first: Finding[];
};

/** Counts the findings, and keeps the first of them. */
export async function collect(findings: Findings): Promise<Found> {
  const found: Found = { counts: {}, total: 0, action: 0, first: [] };
  for await (const finding of findings.all()) {
    found.counts[finding.kind] = (found.counts[finding.kind] ?? 0) + 1;
    found.total += 1;
    if (needsAction(finding.kind)) found.action += 1;
    if (found.first.length < SHOWN) found.first.push(finding);
  }
  return found;
}

/** The findings for a person; what the reconciliation itself took goes to stderr. */
export function report(
  checkpoint: Checkpoint,
  { counts: kinds, total, first }: Found,
  locate: (messageId: string) => string,
  file: string,
): void {
  const { since, until, counts } = checkpoint;
  console.log(
    `${plural(counts.records, "record")} (${plural(counts.open, "claim")} without a live lease) and ${plural(counts.intents, "PaymentIntent")}, ${utc(since)} to ${utc(until)} UTC: ${counts.agree.toLocaleString("en-US")} agree.`,
  );
  if (counts.foreign > 0) {
    console.log(
      `${plural(counts.foreign, "PaymentIntent")} without a message id: another integration's.`,
    );
  }
  if (total === 0) {
    console.log(styleText("green", "No differences."));
  } else {
    const rows = first.map((finding) => [
      finding.messageId,
      DIFFERENCES[finding.kind].name,
      describeRecorded(finding),
      describeStates(finding),
    ]);
    const paint = (line: string, row: number): string => {
      const finding = first[row];
      return finding && needsAction(finding.kind) ? styleText("red", line) : line;
    };
    console.log(`\n${table(["message", "finding", "recorded", "at Stripe"], rows, { paint })}`);
    if (total > first.length) console.log(`and ${total - first.length} more: ${file}`);
    for (const [kind, count] of Object.entries(kinds) as [Difference, number][]) {
      console.log(`\n${count} ${DIFFERENCES[kind].name}. ${DIFFERENCES[kind].next}`);
      if (kind !== "open") continue;
      for (const { messageId } of first.filter((finding) => finding.kind === "open")) {
        console.log(`  ${messageId}: ${locate(messageId)}`);
      }
    }
  }
  reportMoney(checkpoint);
  const { seconds, megabytes } = effort();
  process.stderr.write(`(${duration(seconds * 1_000)}, at most ${megabytes} MB of memory)\n`);
}

/** The period's sums for each currency, as recorded and in Stripe's balance. */
function reportMoney({ totals, balanceRead }: Checkpoint): void {
  if (!balanceRead) {
    console.log(
      "\nStripe's balance was not compared: the key may not read it, see docs/deploy.md.",
    );
    return;
  }
  const { recorded, inBalance, settled, other } = totals;
  const currencies = [...new Set([...Object.keys(recorded), ...Object.keys(inBalance)])].toSorted();
  if (currencies.length === 0) return;
  const rows = currencies.map((currency) => [
    currency,
    sumOf(recorded[currency]),
    sumOf(inBalance[currency]),
    String((inBalance[currency]?.amount ?? 0) - (recorded[currency]?.amount ?? 0)),
  ]);
  const differs = new Set(differingSums(totals).map(({ currency }) => currency));
  const paint = (line: string, row: number): string =>
    differs.has(currencies[row] ?? "") ? styleText("red", line) : line;
  const head = ["currency", "recorded as paid", "in Stripe's balance", "difference"];
  console.log(`\n${table(head, rows, { paint })}`);
  for (const [currency, { amount, fee, net }] of Object.entries(settled)) {
    console.log(`Settled in ${currency}: ${amount}, of which fees ${fee}, net ${net}.`);
  }
  for (const [category, amounts] of Object.entries(other)) {
    const all = Object.entries(amounts).map(([currency, of]) => `${sumOf(of)} ${currency}`);
    console.log(`Also in the balance, not compared: ${category} ${all.join(", ")}.`);
  }
  if (differs.size > 0) console.log(`\nSums differ. ${SUMS_DIFFER}`);
}

/** What the reconciliation itself took. */
function effort() {
  return {
    seconds: Math.round(process.uptime()),
    megabytes: Math.round(process.resourceUsage().maxRSS / 1_024),
  };
}

/** The findings as one JSON document. */
export function forScripts(
  { since, until, counts, balanceRead, totals }: Checkpoint,
  { counts: kinds, total, first }: Found,
  locate: (messageId: string) => string,
  repaired: Repaired[],
  findingsFile: string,
) {
  return {
    since: new Date(since).toISOString(),
    until: new Date(until).toISOString(),
    ...counts,
    ...(balanceRead && { balance: { ...totals, differences: differingSums(totals) } }),
    findings: total,
    byKind: kinds,
    first: first.map((finding) => ({
      ...finding,
      next: DIFFERENCES[finding.kind].next,
      ...(finding.kind === "open" && { where: locate(finding.messageId) }),
    })),
    ...(total > first.length && { findingsFile }),
    repaired,
    ...effort(),
  };
}

const sumOf = ({ amount, count } = { count: 0, amount: 0 }): string => `${amount} (${count})`;
