// payments overview: the queues now, and what deliveries came to lately.
import { sqsFor } from "../clients/clients.ts";
import { readResults } from "../clients/results.ts";
import type { ResultLine } from "../clients/results.ts";
import { findTarget, need, TARGET_OPTIONS } from "../clients/target.ts";
import { deadLetterQueueOf, groupByReason, readDeadLetters } from "../queue/dead-letters.ts";
import { depthOf } from "../queue/peek.ts";
import { flag, instant, readArguments } from "../terminal/arguments.ts";
import { interruptSignal } from "../terminal/command.ts";
import { plural, printJson, say, utc } from "../terminal/print.ts";
import { duration } from "../terminal/progress.ts";
import { table } from "../terminal/table.ts";
import { warnings } from "./dlq.ts";
import { codeOf } from "./history.ts";

export const COMMAND = {
  name: "overview",
  usage: "npm run payments -- overview [options]",
  about: `
Shows the depth of both queues, the dead letters by reason with the least time left, and the results
of the last 15 minutes by code, with the first and the last time of each.`,
  options: {
    ...TARGET_OPTIONS,
    since: instant("WHEN", "the results since then: 2h for two hours ago, or a time", "15m"),
    json: flag("for scripts"),
  },
  notes: `
Needs both queues, the table and the log group, or the local stack. Other targets: payments --help.

Exit status 3 when there are dead letters.`,
  examples: [
    "npm run payments -- overview",
    "npm run payments -- overview --since 2h --stack PaymentWorker-prod",
  ],
};

export async function run(args: string[]): Promise<void> {
  const { values } = readArguments(COMMAND, args);
  const target = await findTarget(values);
  const signal = interruptSignal();
  const queueUrl = need(target, "queueUrl");
  const [queue, dead, all] = await Promise.all([
    depthOf(sqsFor(queueUrl), queueUrl),
    readDeadLetters(deadLetterQueueOf(target), signal),
    readResults(target, values.since, signal),
  ]);
  const now = Date.now();
  const deadLetters = groupByReason(dead.letters).map(({ code, letters, oldest }) => ({
    reason: code,
    messages: letters.length,
    secondsLeft: Math.round((oldest.sentAt + dead.depth.retentionMs - now) / 1_000),
  }));
  const results = groupResults(all);
  if (deadLetters.length > 0) process.exitCode = 3;
  if (signal.aborted) process.exitCode = 130;
  for (const warning of warnings(dead.peek, dead.depth, dead.letters.length)) say(warning);
  const { visible, inFlight, delayed } = queue;
  if (values.json) {
    printJson({ queue: { visible, inFlight, delayed }, deadLetters, results });
    return;
  }

  console.log(`queue  ${visible} visible, ${inFlight} in flight, ${delayed} delayed`);
  console.log(`\n${plural(dead.letters.length, "dead letter")}`);
  if (deadLetters.length > 0) {
    const rows = deadLetters.map(({ reason, messages, secondsLeft }) => [
      messages.toLocaleString("en-US"),
      reason,
      duration(1_000 * secondsLeft),
    ]);
    console.log(table(["messages", "reason", "least time left"], rows));
  }
  console.log(`\n${plural(all.length, "delivery", "deliveries")} since ${utc(values.since)} UTC`);
  if (results.length > 0) {
    const rows = results.map(({ deliveries, messages, result, code, first, last }) => [
      deliveries.toLocaleString("en-US"),
      messages.toLocaleString("en-US"),
      result,
      code,
      utc(Date.parse(first)).slice(11),
      utc(Date.parse(last)).slice(11),
    ]);
    const head = ["deliveries", "messages", "result", "code", "first (UTC)", "last (UTC)"];
    console.log(table(head, rows));
  }
}

/** By decision, outcome and code, the most frequent first; `all` is in the order of time. */
export function groupResults(all: readonly ResultLine[]) {
  const groups = Map.groupBy(all, (result) =>
    JSON.stringify([result.decision, result.outcome, codeOf(result)]),
  );
  return [...groups.values()]
    .flatMap((group) => {
      const [first, last] = [group[0], group.at(-1)];
      if (!first || !last) return [];
      const { decision, outcome } = first;
      return [
        {
          deliveries: group.length,
          messages: new Set(group.map(({ messageId }) => messageId)).size,
          result: outcome ? `${decision}, ${outcome}` : decision,
          code: codeOf(first),
          first: first.timestamp,
          last: last.timestamp,
        },
      ];
    })
    .toSorted((a, b) => b.deliveries - a.deliveries);
}
