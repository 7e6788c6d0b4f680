// payments history: each delivery of a message, and when it comes next.
import type { Backoff } from "../../lib/timing/backoff.ts";
import { timingsFor } from "../clients/clients.ts";
import { readResults } from "../clients/results.ts";
import type { ResultLine } from "../clients/results.ts";
import { findTarget, TARGET_OPTIONS } from "../clients/target.ts";
import { codeOf, nextOf } from "../explain/explain-delivery.ts";
import { flag, instant, readArguments } from "../terminal/arguments.ts";
import { interruptSignal, UsageError } from "../terminal/command.ts";
import { printJson, say, utc } from "../terminal/print.ts";
import { table } from "../terminal/table.ts";

export const COMMAND = {
  name: "history",
  usage: "npm run payments -- history ID… [options]",
  about: `
Shows each delivery of messages: when, which receive and attempt, its result with its code, and when
the message comes next. payments status says what is recorded and where the message is now.`,
  options: {
    ...TARGET_OPTIONS,
    since: instant("WHEN", "how far back: 7d for seven days ago, or 2026-11-29T12:00:00Z", "24h"),
    json: flag("the worker's own lines, in one array"),
  },
  positionals: "message id",
  notes: `
Reads the worker's log. A delivery that ended with its worker (killed, out of memory) has no line there. Needs the log group, or the local stack. Other targets: payments --help.

Exit status 3 when there is no delivery.`,
  examples: [
    "npm run payments -- history order-1",
    "npm run payments -- history order-1 --since 7d --stack PaymentWorker-prod",
  ],
};

export async function run(args: string[]): Promise<void> {
  const { values, positionals: ids } = readArguments(COMMAND, args);
  if (ids.length === 0) throw new UsageError("Name at least one message id. See --help.");
  const target = await findTarget(values);
  const signal = interruptSignal();
  const wanted = new Set(ids);
  const all = await readResults(target, values.since, signal);
  const results = all.filter(({ messageId = "" }) => wanted.has(messageId));
  if (signal.aborted) process.exitCode = 130;
  else if (results.length === 0) process.exitCode = 3;

  if (values.json) printJson(results);
  else if (results.length > 0) console.log(describe(results, timingsFor(target)));
  else say("No delivery in this time: --since goes further back, payments status has the record.");
}

function describe(results: readonly ResultLine[], backoff: Backoff): string {
  const rows = results.map((result) => [
    result.messageId ?? "",
    utc(Date.parse(result.timestamp)),
    String(result.receiveCount ?? ""),
    String(result.attempt ?? ""),
    result.outcome ? `${result.decision}, ${result.outcome}` : result.decision,
    codeOf(result),
    result.stripeRequestId ?? "",
    nextOf(result, backoff),
  ]);
  const head = ["message", "time (UTC)", "receive", "attempt", "result", "code", "Stripe request"];
  return table([...head, "next"], rows);
}
