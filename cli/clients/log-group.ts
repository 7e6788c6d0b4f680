// The worker's lines in CloudWatch Logs: those so far, or as they come.
import { setTimeout as sleep } from "node:timers/promises";

import { paginateFilterLogEvents } from "@aws-sdk/client-cloudwatch-logs";
import type { CloudWatchLogsClient } from "@aws-sdk/client-cloudwatch-logs";

/** Well within FilterLogEvents' five calls per second for an account and region. */
const POLL_MS = 2_000;
/** CloudWatch shows events seconds late, and not in order. */
const LATE_MS = 30_000;

/** Only the lines of a delivery's result have this field. */
const PATTERN = '{ $.decision = "*" }';

type Event = { id: string; timestamp: number; line: string };

/**
 * The lines of deliveries' results since `from` (epoch ms), page by page.
 * https://docs.aws.amazon.com/AmazonCloudWatchLogs/latest/APIReference/API_FilterLogEvents.html
 */
export async function* readLogGroup(
  client: CloudWatchLogsClient,
  logGroupName: string,
  from: number,
  signal: AbortSignal,
): AsyncGenerator<Event> {
  const query = { logGroupName, startTime: from, filterPattern: PATTERN };
  for await (const { events = [] } of paginateFilterLogEvents({ client }, query)) {
    for (const { eventId: id = "", timestamp = 0, message = "" } of events) {
      yield { id, timestamp, line: message.trimEnd() };
    }
    if (signal.aborted) return;
  }
}

/**
 * The lines since `sinceMs` (epoch ms), and those that come, until `signal` is aborted. Polls
 * FilterLogEvents, which costs nothing; CloudWatch's Live Tail is charged by the minute.
 */
export async function* followLogGroup(
  client: CloudWatchLogsClient,
  logGroupName: string,
  sinceMs: number,
  signal: AbortSignal,
): AsyncGenerator<string> {
  const seen = new Map<string, number>();
  let from = sinceMs;
  while (!signal.aborted) {
    let newest = from;
    const startTime = Math.max(sinceMs, from - LATE_MS);
    const events = readLogGroup(client, logGroupName, startTime, signal);
    for await (const { id, timestamp, line } of events) {
      if (seen.has(id)) continue;
      seen.set(id, timestamp);
      newest = Math.max(newest, timestamp);
      yield line;
    }
    from = newest;
    for (const [id, timestamp] of seen) if (timestamp < from - LATE_MS) seen.delete(id);
    await sleep(POLL_MS, undefined, { signal }).catch(() => {});
  }
}
