// payments reconcile: whether the records and Stripe agree, and which payments are stuck.
import { mkdir, rm } from "node:fs/promises";
import { join, relative } from "node:path";

import { differingSums } from "../../lib/reconcile/money.ts";
import { createPace } from "../../lib/stripe/pace.ts";
import { tableFor, timingsFor } from "../clients/clients.ts";
import { stripeFor } from "../clients/stripe-access.ts";
import { findTarget, need, TARGET_OPTIONS } from "../clients/target.ts";
import { describePlace, readQueues } from "../queue/locate.ts";
import { loadCheckpoint, newCheckpoint, removeOldFolders } from "../reconcile/checkpoint.ts";
import type { Checkpoint } from "../reconcile/checkpoint.ts";
import { openFindings } from "../reconcile/findings.ts";
import { gather } from "../reconcile/gather.ts";
import { repairAll } from "../reconcile/repair-all.ts";
import { collect, forScripts, report } from "../reconcile/report.ts";
import type { Sources } from "../reconcile/verify.ts";
import { flag, instant, integer, readArguments, text } from "../terminal/arguments.ts";
import type { ValuesOf } from "../terminal/arguments.ts";
import { interruptSignal, UsageError } from "../terminal/command.ts";
import { printJson, say } from "../terminal/print.ts";
import { duration } from "../terminal/progress.ts";

const FOLDER = join(".local", "reconcile");
const KEPT = 5;
const DAY_MS = 24 * 60 * 60 * 1_000;

export const COMMAND = {
  name: "reconcile",
  usage: "npm run payments -- reconcile [options]",
  about: `
Compares the records with Stripe, both ways: reads the whole table and the period's PaymentIntents,
and finds
  charged twice     two PaymentIntents took the money for one message id
  not recorded      Stripe has an outcome that the table lacks
  not at Stripe     Stripe does not have the recorded PaymentIntent
  different         record and PaymentIntent have different outcomes
  amount differs    the same outcome, of another amount or currency
  edited at Stripe  its message id or customer was changed after it was charged
  balance differs   Stripe's balance does not show what was paid
  advanced          recorded as processing or requires_action, and moved forward at Stripe since
  advanced, unpaid  the same, and declined or canceled since
  stuck             no live lease, nothing was charged; and where its message is
Each is read again at the table and at Stripe before it is reported, with both sides and what to do.
At the end, for each currency: the sums of what is recorded as paid, and of Stripe's balance.`,
  options: {
    ...TARGET_OPTIONS,
    since: instant(
      "WHEN",
      "the period's beginning: 7d for seven days ago, or 2026-11-29T12:00:00Z (default 24h)",
    ),
    until: instant("WHEN", "its end (default: now)"),
    repair: flag("afterwards records the outcomes that are not recorded; asks first"),
    resume: text("FOLDER", "resumes an interrupted one, or repairs what one has found"),
    rate: integer("N", "requests to Stripe per second, whose limit payments share", [1, 100], 5),
    yes: flag("does not ask"),
    json: flag("for scripts"),
  },
  notes: `
Only --repair writes, and only what a worker would: it takes over an expired claim, on the condition
that it is still as it was seen, and completes it with the outcome that Stripe has; where there is no
record at all, it puts one on the condition that there is still none. It never charges, and a worker
that comes to the message meanwhile wins.

It needs little memory however many records there are: what it reads is kept on disk (about 200 bytes
per record of the period) under .local/reconcile, and deleted when there is nothing to report; the last
five are kept. Ctrl-C stops it at any time, and it says how to resume. A million records cost DynamoDB
about a cent to scan; a million PaymentIntents take Stripe 10,000 requests, half an hour at 5 per second.

Needs the table and the secret (or STRIPE_API_KEY; it only reads PaymentIntents, charges and the
balance), and the two queues to find the messages of stuck claims. Other targets: payments --help.

Exit status 3 when something was found that needs you and is not repaired.`,
  examples: [
    "npm run payments -- reconcile",
    "npm run payments -- reconcile --since 7d --stack PaymentWorker-prod",
    "npm run --silent payments -- reconcile --since 2026-11-01 --until 2026-12-01 --json",
    "npm run payments -- reconcile --repair",
  ],
};

export async function run(args: string[]): Promise<void> {
  const { values } = readArguments(COMMAND, args);
  const target = await findTarget(values);
  const signal = interruptSignal();
  const { recordTtlMs } = timingsFor(target);
  const tableName = need(target, "tableName");
  const { folder, checkpoint } = await begin(values, tableName, recordTtlMs, Date.now());
  using access = await stripeFor(target, 5);
  const sources: Sources = {
    table: tableFor(target),
    tableName: checkpoint.tableName,
    stripe: access.stripe,
    pace: createPace(values.rate, { signal }),
  };
  const findings = openFindings(folder);
  try {
    await gather(folder, checkpoint, findings, sources, signal);
  } catch (error) {
    if (!signal.aborted) say(`Resume with: ${resumeCommand(folder)}`);
    if (!signal.aborted) throw error;
  }
  if (signal.aborted) {
    say(`Interrupted. Resume with: ${resumeCommand(folder)}`);
    process.exitCode = 130;
    return;
  }

  const found = await collect(findings);
  const queues = found.counts.open ? await readQueues(target, signal) : {};
  const locate = (id: string): string => describePlace(id, queues);
  if (!values.json) report(checkpoint, found, locate, findings.file);
  const repaired = values.repair
    ? await repairAll(found, findings, sources, recordTtlMs, { yes: values.yes, signal })
    : [];
  if (values.json) printJson(forScripts(checkpoint, found, locate, repaired, findings.file));
  else for (const one of repaired) console.log(`${one.messageId}: ${one.sentence}`);

  const recorded = repaired.filter((one) => one.recorded).length;
  const sums = checkpoint.balanceRead ? differingSums(checkpoint.totals).length : 0;
  if (found.action > recorded || (sums > 0 && found.total === 0)) process.exitCode = 3;
  if (signal.aborted) process.exitCode = 130;
  if (found.total === recorded) await rm(folder, { recursive: true });
  else if (!values.repair && found.counts.not_recorded) {
    say(`\nTo record what is not recorded: ${resumeCommand(folder)} --repair`);
  }
}

async function begin(
  { since, until, resume }: ValuesOf<typeof COMMAND>,
  tableName: string,
  recordTtlMs: number,
  now: number,
): Promise<{ folder: string; checkpoint: Checkpoint }> {
  if (resume !== undefined) {
    if (since !== undefined || until !== undefined) {
      throw new UsageError(
        "--resume keeps the period that it began with: leave --since and --until out.",
      );
    }
    return { folder: resume, checkpoint: await loadCheckpoint(resume, tableName) };
  }
  const from = since ?? now - DAY_MS;
  const to = until ?? now;
  if (from >= to) throw new UsageError("--since must be before --until.");
  if (from < now - recordTtlMs) {
    throw new UsageError(
      `--since must be within ${duration(recordTtlMs)}: older payments have no record any more.`,
    );
  }
  const name = new Date(now).toISOString().slice(0, 19).replaceAll(":", "-");
  await removeOldFolders(FOLDER, KEPT - 1);
  const folder = join(FOLDER, `${name}-${process.pid}`);
  await mkdir(folder, { recursive: true });
  return { folder, checkpoint: newCheckpoint(tableName, from, to, now) };
}

function resumeCommand(folder: string): string {
  return `npm run payments -- reconcile --resume ${relative(".", folder)}`;
}
