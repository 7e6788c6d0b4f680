// payments reconcile: do the records and Stripe tell the same story, and which payments are stuck.
import { mkdir, rm } from "node:fs/promises";
import { join, relative } from "node:path";

import { tableFor, timingsFor } from "../clients/clients.ts";
import { stripeFor } from "../clients/stripe-access.ts";
import { findTarget, need, TARGET_OPTIONS } from "../clients/target.ts";
import { loadCheckpoint, newCheckpoint } from "../reconcile/checkpoint.ts";
import type { Checkpoint } from "../reconcile/checkpoint.ts";
import { openFindings } from "../reconcile/findings.ts";
import type { Findings } from "../reconcile/findings.ts";
import { compareBothSides, readBothSides } from "../reconcile/gather.ts";
import { locateMessages } from "../reconcile/locate-messages.ts";
import { createPace } from "../reconcile/pace.ts";
import { openPartitions } from "../reconcile/partitions.ts";
import { repairAll } from "../reconcile/repair-all.ts";
import { collect, forScripts, report } from "../reconcile/report.ts";
import type { Sources } from "../reconcile/verify.ts";
import { readArguments, UsageError } from "../terminal/command.ts";
import { readInstant } from "../terminal/instant.ts";
import { interruptSignal } from "../terminal/interrupt.ts";
import { printJson, say } from "../terminal/print.ts";
import { duration } from "../terminal/progress.ts";

const HELP = `
npm run payments -- reconcile [options]      compares the records with Stripe, both ways

Reads the whole table and the period's PaymentIntents, and finds
  charged twice           two PaymentIntents took the money for one message id
  charged, not recorded   Stripe has an outcome that the table lacks
  recorded, not at Stripe the recorded PaymentIntent is not Stripe's
  different               record and PaymentIntent have different outcomes
  moved on                recorded as processing or requires_action, and final at Stripe since
  stuck                   nobody holds the claim, nothing was charged; and where its message is
Each is read again at the table and at Stripe before it is reported.

  --since WHEN     the period's beginning: 24h, 7d, 2026-11-29, 2026-11-29T12:00:00Z   (default 24h)
  --until WHEN     its end                                                             (default: now)
  --repair         afterwards records the outcomes that are charged and not recorded; asks first
  --resume FOLDER  goes on with a reconciliation that was interrupted, or repairs what one has found
  --rate N         requests to Stripe a second, which payments have to share            (default 5)
  --yes            does not ask
  --json           for scripts

Only --repair writes, and only what a worker would: it takes over a claim that nobody holds, on the
condition that it is still as it was seen, and completes it with the outcome that Stripe has; where there
is no record at all, it puts one on the condition that there is still none. It never charges, and a
worker that comes to the message meanwhile wins.

It needs little memory however many records there are: what it reads is kept on disk (about 200 bytes a
record of the period) under .local/reconcile, and is deleted when there is nothing to report. Ctrl-C stops it
at any time, and it says how to go on. A million records cost DynamoDB about a cent to scan; a million
PaymentIntents take Stripe 10,000 requests, half an hour at 5 a second.

Examples
  npm run payments -- reconcile
  npm run payments -- reconcile --since 7d --stack PaymentWorker-prod
  npm run payments -- reconcile --since 2026-11-01 --until 2026-12-01 --json
  npm run payments -- reconcile --repair

Needs the table and the secret (or STRIPE_API_KEY; reading PaymentIntents is all it does there), and to
find the messages of stuck claims the two queues. Other places: payments --help.
Exit status 3 when something was found that is not repaired.
`;

export async function run(args: string[]): Promise<void> {
  const { values, positionals } = readArguments(
    HELP,
    {
      ...TARGET_OPTIONS,
      since: { type: "string" },
      until: { type: "string" },
      repair: { type: "boolean", default: false },
      resume: { type: "string" },
      rate: { type: "string", default: "5" },
      yes: { type: "boolean", default: false },
      json: { type: "boolean", default: false },
    },
    args,
  );
  if (positionals.length > 0) {
    throw new UsageError(`"${positionals[0]}" is not an option of reconcile. See --help.`);
  }
  const target = await findTarget(values);
  const signal = interruptSignal();
  const { recordTtlMs } = timingsFor(target);
  const { folder, checkpoint } = await begin(
    values,
    need(target, "tableName"),
    recordTtlMs,
    Date.now(),
  );
  using access = await stripeFor(target, 5);
  const sources: Sources = {
    table: tableFor(target),
    tableName: checkpoint.tableName,
    stripe: access.stripe,
    pace: createPace(readRate(values.rate), signal),
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
  const locate = found.counts.open ? await locateMessages(target, signal) : undefined;
  if (!values.json) report(checkpoint, found, locate, findings.file);
  const repaired = values.repair
    ? await repairAll(found, findings, sources, recordTtlMs, {
        yes: values.yes,
        signal,
      })
    : [];
  if (values.json) printJson(forScripts(checkpoint, found, locate, repaired, findings.file));
  else for (const one of repaired) console.log(`${one.messageId}: ${one.sentence}`);

  const recorded = repaired.filter((one) => one.recorded).length;
  if (found.action > recorded) process.exitCode = 3;
  if (signal.aborted) process.exitCode = 130;
  if (found.total === recorded) await rm(folder, { recursive: true });
  else if (!values.repair && found.counts.not_recorded) {
    say(`\nTo record what is not recorded: ${resumeCommand(folder)} --repair`);
  }
}

async function begin(
  values: { since?: string | undefined; until?: string | undefined; resume?: string | undefined },
  tableName: string,
  recordTtlMs: number,
  now: number,
): Promise<{ folder: string; checkpoint: Checkpoint }> {
  const { since, until, resume } = values;
  if (resume !== undefined) {
    if (since !== undefined || until !== undefined) {
      throw new UsageError(
        "--resume goes on with the period that it began with: leave --since and --until out.",
      );
    }
    return { folder: resume, checkpoint: await loadCheckpoint(resume, tableName) };
  }
  const from = readInstant("--since", since ?? "24h", now);
  const to = until === undefined ? now : readInstant("--until", until, now);
  if (from >= to) throw new UsageError("--since must be before --until.");
  if (from < now - recordTtlMs) {
    throw new UsageError(
      `--since must be within ${duration(recordTtlMs)}: older payments have no record any more.`,
    );
  }
  const name = new Date(now).toISOString().slice(0, 19).replaceAll(":", "-");
  const folder = join(".local", "reconcile", `${name}-${process.pid}`);
  await mkdir(folder, { recursive: true });
  return { folder, checkpoint: newCheckpoint(tableName, from, to, now) };
}

function readRate(text: string): number {
  const rate = /^\d{1,3}$/.test(text) ? Number(text) : 0;
  if (rate >= 1 && rate <= 100) return rate;
  throw new UsageError(`--rate must be an integer from 1 to 100, not "${text}".`);
}

async function gather(
  folder: string,
  checkpoint: Checkpoint,
  findings: Findings,
  sources: Sources,
  signal: AbortSignal,
): Promise<void> {
  const partitions = openPartitions(folder);
  await readBothSides(folder, checkpoint, partitions, sources, signal);
  if (signal.aborted) return;
  await compareBothSides(folder, checkpoint, partitions, findings, sources, signal);
}

function resumeCommand(folder: string): string {
  return `npm run payments -- reconcile --resume ${relative(".", folder)}`;
}
