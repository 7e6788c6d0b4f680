// payments republish: publishes outcome events again, for a consumer that lost or never had them.
import { setTimeout as sleep } from "node:timers/promises";

import { paginateScan } from "@aws-sdk/lib-dynamodb";

import { publishChanges } from "../../lib/outcomes/publish.ts";
import type { OutcomeBus } from "../../lib/outcomes/publish.ts";
import type { IdempotencyRecord } from "../../lib/payments/record.ts";
import { isLocal, tableFor } from "../clients/clients.ts";
import { eventBusFor } from "../clients/event-bus.ts";
import { readRecords } from "../clients/records.ts";
import { findTarget, need, TARGET_OPTIONS } from "../clients/target.ts";
import type { Target } from "../clients/target.ts";
import { expectedRecords } from "../reconcile/read-records.ts";
import { flag, instant, readArguments, texts } from "../terminal/arguments.ts";
import { interruptSignal, UsageError } from "../terminal/command.ts";
import { confirm } from "../terminal/confirm.ts";
import { plural, printJson, say, utc } from "../terminal/print.ts";
import { startProgress } from "../terminal/progress.ts";

export const COMMAND = {
  name: "republish",
  usage: "npm run payments -- republish --since WHEN | --id ID… [options]",
  about: `
Publishes outcome events again, from the records: the same events as the outcome publisher's, with the
same ids, so that a consumer which had them already finds duplicates. The record holds the latest
outcome; earlier revisions are not published again.`,
  options: {
    ...TARGET_OPTIONS,
    since: instant(
      "WHEN",
      "outcomes recorded since: 3d for three days ago, or 2026-11-29T12:00:00Z",
    ),
    id: texts("ID", "only the outcome of this message"),
    "dry-run": flag("lists the events, and publishes none"),
    yes: flag("does not ask; it asks only for a bus that is not on this machine"),
    json: flag("for scripts"),
  },
  notes: `
Every consumer of the bus gets the events. What fails is tried again, five times in all. Ctrl-C stops
between two calls and says what was published; to start over is safe. A million records cost about a
cent to scan, and a million events a dollar to publish.

Needs the table, the bus (output EventBusName or --event-bus) and the source of its events (output
EventSource or --event-source). Other targets: payments --help.

Exit status 3 when a message that was named has no outcome.`,
  examples: [
    "npm run payments -- republish --since 3d --dry-run",
    "npm run payments -- republish --since 3d --stack PaymentWorker-prod",
    "npm run payments -- republish --id order-1001 --id order-1002",
  ],
};

// The limits of PutEvents are shared with the payments: one call after another stays far below them.
const CHUNK = 100;
const TRIES = 5;
const PAUSE_MS = 200;
const CALL_TIMEOUT_MS = 10_000;
const NOTHING: OutcomeBus = { publish: async (events) => events.map(() => undefined) };

type Failure = { messageId: string; code: string };
type Done = { published: number; failed: Failure[]; missing: string[] };

export async function run(args: string[]): Promise<void> {
  const { values } = readArguments(COMMAND, args);
  const { since, id: ids, json } = values;
  const dryRun = values["dry-run"];
  if (since === undefined && ids.length === 0) {
    throw new UsageError("Say which outcomes: --since or --id.");
  }
  const target = await findTarget(values);
  const [source, bus] = [need(target, "eventSource"), need(target, "eventBus")];
  const publisher = dryRun ? NOTHING : eventBusFor(target);
  const signal = interruptSignal();
  const local = isLocal(target.resources.queueUrl ?? "") && target.local !== undefined;
  const which = [
    ids.length > 0 ? `of ${plural(ids.length, "message")}` : "",
    since === undefined ? "" : `recorded since ${utc(since)} UTC`,
  ];
  const question = `Publish the outcomes ${which.filter(Boolean).join(", ")} to ${bus} again, for every consumer?`;
  const asking = { yes: values.yes || local, signal, otherwise: "Nothing was published." };
  if (!dryRun && !(await confirm(question, asking))) return;

  const done: Done = { published: 0, failed: [], missing: [] };
  const onEvent = (line: string) => {
    if (dryRun && !json) console.log(line);
  };
  for await (const records of recordsOf(target, { since, ids, done }, signal)) {
    const before = done.published;
    await publishAll(records, { source, bus: publisher, done, onEvent }, signal);
    if (records.length > 0 && done.published === before && !signal.aborted) break; // none of them: not by chance
  }

  for (const { messageId, code } of done.failed) say(`not published: ${messageId}: ${code}`);
  for (const messageId of done.missing) say(`no outcome: ${messageId}`);
  const verb = dryRun ? "would be published" : "published";
  if (json) printJson({ bus, source, dryRun, interrupted: signal.aborted, ...done });
  else {
    const count = plural(done.published, "event");
    console.log(`${signal.aborted ? "interrupted: " : ""}${count} ${verb}, to ${bus}`);
  }
  if (done.missing.length > 0) process.exitCode = 3;
  if (done.failed.length > 0) process.exitCode = 1;
  if (signal.aborted) process.exitCode = 130;
}

// A record of an earlier version has no completedAt.
const recordedAt = ({ completedAt, firstClaimedAt }: IdempotencyRecord): number =>
  completedAt ?? firstClaimedAt;

/** The records with an outcome, in chunks. */
async function* recordsOf(
  target: Target,
  { since = 0, ids, done }: { since: number | undefined; ids: readonly string[]; done: Done },
  signal: AbortSignal,
): AsyncGenerator<IdempotencyRecord[]> {
  const table = tableFor(target);
  const tableName = need(target, "tableName");
  if (ids.length > 0) {
    const records = await readRecords(table, tableName, ids);
    done.missing.push(...ids.filter((id) => !records.get(id)?.outcome));
    yield [...records.values()].filter((one) => one.outcome && recordedAt(one) >= since);
    return;
  }
  const progress = startProgress("records", await expectedRecords(table, tableName));
  const scan = {
    TableName: tableName,
    Limit: CHUNK,
    FilterExpression:
      "attribute_exists(outcome) AND (completedAt >= :since OR (attribute_not_exists(completedAt) AND firstClaimedAt >= :since))",
    ExpressionAttributeValues: { ":since": since },
  };
  try {
    for await (const { Items = [], ScannedCount } of paginateScan({ client: table }, scan)) {
      yield Items as IdempotencyRecord[];
      progress.advance(ScannedCount);
      if (signal.aborted) break;
    }
  } finally {
    progress.done();
  }
}

/** Publishes these records' events, ten to a call, and what fails again. */
async function publishAll(
  records: readonly IdempotencyRecord[],
  { source, bus, done, onEvent }: PublishOptions,
  signal: AbortSignal,
): Promise<void> {
  for (let at = 0; at < records.length && !signal.aborted; at += 10) {
    let due = records.slice(at, at + 10);
    for (let tried = 1; due.length > 0; tried++) {
      const changes = due.map((after) => ({ sequenceNumber: "", after }));
      const results = await publishChanges(changes, source, bus, () => CALL_TIMEOUT_MS);
      const again: IdempotencyRecord[] = [];
      for (const [index, result] of results.entries()) {
        const record = due[index] as IdempotencyRecord;
        if (result.decision === "published") {
          done.published += 1;
          onEvent(`${result.event.id}  ${result.event.type}`);
        } else if (result.decision === "failed") {
          const final = tried === TRIES || result.code === "MalformedRecord" || signal.aborted;
          if (final) done.failed.push({ messageId: record.messageId, code: result.code });
          else again.push(record);
        }
      }
      due = again;
      if (due.length > 0) await sleep(PAUSE_MS * 2 ** (tried - 1));
    }
  }
}

type PublishOptions = {
  source: string;
  bus: OutcomeBus;
  done: Done;
  onEvent: (line: string) => void;
};
