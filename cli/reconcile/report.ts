// What a reconciliation tells: to a person, and to a script.
import { styleText } from "node:util";

import { plural } from "../terminal/print.ts";
import { duration } from "../terminal/progress.ts";
import { table } from "../terminal/table.ts";
import type { Checkpoint } from "./checkpoint.ts";
import type { Findings } from "./findings.ts";
import type { Whereabouts } from "./locate-messages.ts";
import type { Repaired } from "./repair.ts";
import type { Finding } from "./verify.ts";

const SHOWN = 100;

export type Found = {
  counts: Partial<Record<Finding["kind"], number>>;
  total: number;
  /** The first of them: all are in the file. */
  first: Finding[];
};

/** Counts the findings, and keeps the first of them. */
export async function collect(findings: Findings): Promise<Found> {
  const found: Found = { counts: {}, total: 0, first: [] };
  for await (const finding of findings.all()) {
    found.counts[finding.kind] = (found.counts[finding.kind] ?? 0) + 1;
    found.total += 1;
    if (found.first.length < SHOWN) found.first.push(finding);
  }
  return found;
}

const NAMES: Record<Finding["kind"], string> = {
  charged_twice: "charged twice",
  not_recorded: "charged, not recorded",
  not_at_stripe: "recorded, not at Stripe",
  different: "different",
  moved_on: "moved on",
  open: "stuck",
};

/** The findings for a person; what the reconciliation itself took goes to stderr. */
export function report(
  { since, until, counts }: Checkpoint,
  { counts: kinds, total, first }: Found,
  whereabouts: Whereabouts | undefined,
  file: string,
): void {
  console.log(
    `${plural(counts.records, "record")} (${plural(counts.open, "claim")} that nobody holds) and ${plural(counts.intents, "PaymentIntent")} of ${day(since)} to ${day(until)} UTC: ${counts.agree.toLocaleString("en-US")} agree.`,
  );
  if (counts.foreign > 0) {
    console.log(
      `${plural(counts.foreign, "PaymentIntent")} without a message id: not this worker's.`,
    );
  }
  for (const [kind, count] of Object.entries(kinds)) {
    console.log(styleText("red", `${count}  ${NAMES[kind as Finding["kind"]]}`));
  }
  if (total === 0) {
    console.log(styleText("green", "Nothing that does not fit."));
  } else {
    const rows = first.map(({ messageId, kind, sentence }) => [
      messageId,
      NAMES[kind],
      kind === "open" && whereabouts ? `${sentence}; ${whereabouts(messageId)}` : sentence,
    ]);
    console.log(`\n${table(["message", "finding", ""], rows)}`);
    if (total > first.length) console.log(`and ${total - first.length} more: ${file}`);
  }
  process.stderr.write(`${footnote()}\n`);
}

/** What the reconciliation itself took. */
function footnote(): string {
  const { seconds, megabytes } = effort();
  return `(${duration(seconds * 1_000)}, at most ${megabytes} MB of memory)`;
}

function effort() {
  return {
    seconds: Math.round(process.uptime()),
    megabytes: Math.round(process.resourceUsage().maxRSS / 1_024),
  };
}

function day(ms: number): string {
  return new Date(ms).toISOString().slice(0, 16).replace("T", " ");
}

/** The findings as one JSON document. */
export function forScripts(
  { since, until, counts }: Checkpoint,
  { counts: kinds, total, first }: Found,
  whereabouts: Whereabouts | undefined,
  repaired: Repaired[],
  findingsFile: string,
) {
  return {
    since: new Date(since).toISOString(),
    until: new Date(until).toISOString(),
    ...counts,
    findings: total,
    byKind: kinds,
    first: first.map((finding) => ({
      ...finding,
      ...(finding.kind === "open" && whereabouts && { where: whereabouts(finding.messageId) }),
    })),
    ...(total > first.length && { findingsFile }),
    repaired,
    ...effort(),
  };
}
