// payments tail: outcomes as they happen, from the worker's log.
import { styleText } from "node:util";

import { describeLine } from "../../scripts/follow.ts";
import { followLines, readResult } from "../clients/results.ts";
import type { ResultLine } from "../clients/results.ts";
import { findTarget, TARGET_OPTIONS } from "../clients/target.ts";
import { flag, instant, readArguments, texts } from "../terminal/arguments.ts";
import { interruptSignal } from "../terminal/command.ts";

export const COMMAND = {
  name: "tail",
  usage: "npm run payments -- tail [options]",
  about: "Follows how deliveries end, in the worker's log, until Ctrl-C.",
  options: {
    ...TARGET_OPTIONS,
    since: instant(
      "WHEN",
      "where it begins: 15m for 15 minutes ago, or 2026-11-29T12:00:00Z",
      "0s",
    ),
    id: texts("ID", "only this message"),
    json: flag("the worker's own lines, one JSON object per line"),
  },
  notes: `
Needs the log group, or the local stack. Other targets: payments --help. What the fields mean, and
queries over longer times: docs/observability.md.`,
  examples: [
    "npm run payments -- tail",
    "npm run payments -- tail --since 1h --id order-1",
    `npm run --silent payments -- tail --json --stack PaymentWorker-prod | grep '"level":"ERROR"'`,
  ],
};

export async function run(args: string[]): Promise<void> {
  const { values } = readArguments(COMMAND, args);
  const { since } = values;
  const target = await findTarget(values);
  const signal = interruptSignal();
  const lines = await followLines(target, since, signal);
  const ids = new Set(values.id);
  for await (const line of lines) {
    const entry = readResult(line);
    if (!entry || Date.parse(entry.timestamp) < since) continue;
    if (ids.size > 0 && !ids.has(entry.messageId ?? "")) continue;
    process.stdout.write(`${values.json ? line : describe(line, entry)}\n`);
  }
}

function describe(line: string, { timestamp }: ResultLine): string {
  return `${styleText("dim", timestamp.slice(0, 19).replace("T", " "))}  ${describeLine(line)}`;
}
