// What the worker's log says of each delivery: those so far, or as they come.
import { readLines } from "../reconcile/json-lines.ts";
import { followFile } from "./log-file.ts";
import { need } from "./target.ts";
import type { Target } from "./target.ts";

/** The line of a delivery's result, as far as commands read it: docs/observability.md has every field. */
export type ResultLine = {
  timestamp: string;
  decision: string;
  message: string;
  messageId?: string;
  receiveCount?: number;
  attempt?: number;
  outcome?: string;
  kind?: string;
  code?: string;
  rule?: string;
  stripeRequestId?: string;
};

/** The lines since `since` (epoch ms), and those that come, until `signal` is aborted. */
export async function followLines(
  target: Target,
  since: number,
  signal: AbortSignal,
): Promise<AsyncIterable<string>> {
  if (target.local) return followFile(target.local.logFile, signal);
  const { client, name, followLogGroup } = await logGroupOf(target);
  return followLogGroup(client, name, since, signal);
}

/** The results since `since` (epoch ms), the oldest first. */
export async function readResults(
  target: Target,
  since: number,
  signal: AbortSignal,
): Promise<ResultLine[]> {
  const results: ResultLine[] = [];
  const keep = (result: ResultLine | undefined): void => {
    if (result && Date.parse(result.timestamp) >= since) results.push(result);
  };
  if (target.local) {
    for await (const entry of readLines<object>(target.local.logFile)) keep(resultIn(entry));
  } else {
    const { client, name, readLogGroup } = await logGroupOf(target);
    for await (const { line } of readLogGroup(client, name, since, signal)) keep(readResult(line));
  }
  return results.toSorted((a, b) => a.timestamp.localeCompare(b.timestamp));
}

/** The line of a delivery's result; undefined for any other. */
export function readResult(line: string): ResultLine | undefined {
  try {
    return resultIn(JSON.parse(line));
  } catch {
    return undefined;
  }
}

function resultIn(entry: unknown): ResultLine | undefined {
  const { decision, timestamp } = (entry ?? {}) as Partial<ResultLine>;
  return typeof decision === "string" && typeof timestamp === "string"
    ? (entry as ResultLine)
    : undefined;
}

/** Loads the clients that the local stack's log does without. */
async function logGroupOf(target: Target) {
  const name = need(target, "logGroup");
  const [{ CloudWatchLogsClient }, { regionOf }, group] = await Promise.all([
    import("@aws-sdk/client-cloudwatch-logs"),
    import("./clients.ts"),
    import("./log-group.ts"),
  ]);
  return { client: new CloudWatchLogsClient(regionOf(target)), name, ...group };
}
