// payments tail: outcomes as they happen, from the worker's log.
import { styleText } from "node:util";

import { describeLine } from "../../scripts/follow.ts";
import { followFile } from "../clients/log-file.ts";
import { findTarget, need, TARGET_OPTIONS } from "../clients/target.ts";
import type { Target } from "../clients/target.ts";
import { readArguments, UsageError } from "../terminal/command.ts";
import { readInstant } from "../terminal/instant.ts";
import { interruptSignal } from "../terminal/interrupt.ts";

const HELP = `
npm run payments -- tail [options]      follows how deliveries end, until Ctrl-C

  --since WHEN   begins so far back: 15m, 2h, or 2026-11-29T12:00:00Z     (default: now)
  --id ID        only this message; may be repeated
  --json         the worker's own lines, one JSON object a line

Examples
  npm run payments -- tail
  npm run payments -- tail --since 1h --id order-1
  npm run payments -- tail --json --stack PaymentWorker-prod | jq 'select(.level == "ERROR")'

Needs the log group, or the local stack. Other places: payments --help. What the fields mean, and
queries over longer times: docs/observability.md.
`;

export async function run(args: string[]): Promise<void> {
  const { values, positionals } = readArguments(
    HELP,
    {
      ...TARGET_OPTIONS,
      since: { type: "string", default: "0s" },
      id: { type: "string", multiple: true, default: [] },
      json: { type: "boolean", default: false },
    },
    args,
  );
  if (positionals.length > 0) {
    throw new UsageError(`"${positionals[0]}" is not an option of tail: use --id. See --help.`);
  }
  const since = readInstant("--since", values.since, Date.now());
  const target = await findTarget(values);
  const signal = interruptSignal();
  const lines = target.local
    ? followFile(target.local.logFile, signal)
    : await followAws(target, since, signal);
  const ids = new Set(values.id);
  for await (const line of lines) {
    const entry = readEnding(line);
    if (!entry || Date.parse(entry.timestamp) < since) continue;
    if (ids.size > 0 && !ids.has(entry.messageId ?? "")) continue;
    process.stdout.write(`${values.json ? line : describe(line, entry)}\n`);
  }
}

/** Loads the clients that the local stack's log does without. */
async function followAws(target: Target, since: number, signal: AbortSignal) {
  const name = need(target, "logGroup");
  const [{ CloudWatchLogsClient }, { regionOf }, { followLogGroup }] = await Promise.all([
    import("@aws-sdk/client-cloudwatch-logs"),
    import("../clients/clients.ts"),
    import("../clients/log-group.ts"),
  ]);
  return followLogGroup(new CloudWatchLogsClient(regionOf(target)), name, since, signal);
}

type Ending = { timestamp: string; messageId?: string };

/** The line when it tells how a delivery ended; undefined for any other. */
function readEnding(line: string): Ending | undefined {
  try {
    const entry = JSON.parse(line) as (Partial<Ending> & { decision?: unknown }) | null;
    if (typeof entry?.decision !== "string" || entry.timestamp === undefined) return undefined;
    return { ...entry, timestamp: entry.timestamp };
  } catch {
    return undefined;
  }
}

function describe(line: string, { timestamp }: Ending): string {
  return `${styleText("dim", timestamp.slice(0, 19).replace("T", " "))}  ${describeLine(line)}`;
}
