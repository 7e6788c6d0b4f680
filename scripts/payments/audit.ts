// payments audit: do the records and Stripe tell the same story, and which payments are stuck.
import { mkdir, rm } from "node:fs/promises";
import { join, relative } from "node:path";
import { readArguments, UsageError } from "../command.ts";
import { loadCheckpoint, newCheckpoint, type Checkpoint } from "./audit/checkpoint.ts";
import { openFindings, type Findings } from "./audit/findings.ts";
import { compareBothSides, readBothSides } from "./audit/gather.ts";
import { createPace } from "./audit/pace.ts";
import { openPartitions } from "./audit/partitions.ts";
import { collect, forScripts, report } from "./audit/report.ts";
import { settleAll } from "./audit/settle-all.ts";
import type { Sources } from "./audit/verify.ts";
import { findMessages } from "./audit/whereabouts.ts";
import { tableFor, timingsFor } from "./clients.ts";
import { readInstant } from "./instant.ts";
import { interruptSignal } from "./interrupt.ts";
import { printJson } from "./print.ts";
import { duration } from "./progress.ts";
import { stripeFor } from "./stripe-access.ts";
import { findTarget, need, TARGET_OPTIONS } from "./target.ts";

const HELP = `
npm run payments -- audit [options]      compares the records with Stripe, both ways

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
  --settle         afterwards records the outcomes that are charged and not recorded; asks first
  --resume FOLDER  goes on with an audit that was interrupted, or settles what one has found
  --rate N         requests to Stripe a second, which payments have to share            (default 5)
  --yes            does not ask
  --json           for scripts

Only --settle writes, and only what a worker would: it takes over a claim that nobody holds, on the
condition that it is still as it was seen, and completes it with the outcome that Stripe has; where there
is no record at all, it puts one on the condition that there is still none. It never charges, and a
worker that comes to the message meanwhile wins.

It needs little memory however many records there are: what it reads is kept on disk (about 200 bytes a
record of the period) under .local/audit, and is deleted when there is nothing to report. Ctrl-C stops it
at any time, and it says how to go on. A million records cost DynamoDB about a cent to scan; a million
PaymentIntents take Stripe 10,000 requests, half an hour at 5 a second.

Examples
  npm run payments -- audit
  npm run payments -- audit --since 7d --stack PaymentWorker-prod
  npm run payments -- audit --since 2026-11-01 --until 2026-12-01 --json
  npm run payments -- audit --settle

Needs the table and the secret (or STRIPE_API_KEY; reading PaymentIntents is all it does there), and to
find the messages of stuck claims the two queues. Other places: payments --help.
Exit status 3 when something was found that is not settled.
`;

export async function run(args: string[]): Promise<void> {
  const { values, positionals } = readArguments(
    HELP,
    {
      ...TARGET_OPTIONS,
      since: { type: "string" },
      until: { type: "string" },
      settle: { type: "boolean", default: false },
      resume: { type: "string" },
      rate: { type: "string", default: "5" },
      yes: { type: "boolean", default: false },
      json: { type: "boolean", default: false },
    },
    args,
  );
  if (positionals.length > 0) {
    throw new UsageError(`"${positionals[0]}" is not an option of audit. See --help.`);
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
  const whereabouts = found.counts.open ? await findMessages(target, signal) : undefined;
  if (!values.json) report(checkpoint, found, whereabouts, findings.file);
  const settled = values.settle
    ? await settleAll(found, findings, sources, recordTtlMs, {
        yes: values.yes,
        signal,
      })
    : [];
  if (values.json) printJson(forScripts(checkpoint, found, whereabouts, settled, findings.file));
  else for (const one of settled) console.log(`${one.messageId}: ${one.sentence}`);

  const left = found.total - (found.counts.moved_on ?? 0);
  const recorded = settled.filter((one) => one.recorded).length;
  if (left > recorded) process.exitCode = 3;
  if (signal.aborted) process.exitCode = 130;
  if (found.total === recorded) await rm(folder, { recursive: true });
  else if (!values.settle && found.counts.not_recorded) {
    say(`\nRecord what is charged and not recorded: ${resumeCommand(folder)} --settle`);
  }
}

function say(text: string): void {
  process.stderr.write(`${text}\n`);
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
  const folder = join(".local", "audit", `${name}-${process.pid}`);
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
  return `npm run payments -- audit --resume ${relative(".", folder)}`;
}
