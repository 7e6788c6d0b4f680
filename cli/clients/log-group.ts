// The worker's lines from CloudWatch Logs, as they come.
import { setTimeout as sleep } from "node:timers/promises";

import { FilterLogEventsCommand } from "@aws-sdk/client-cloudwatch-logs";
import type { CloudWatchLogsClient } from "@aws-sdk/client-cloudwatch-logs";

/** Well within FilterLogEvents' five calls a second for an account and region. */
const POLL_MS = 2_000;
/** CloudWatch shows an event some seconds after it happened, and not in order. */
const LATE_MS = 30_000;

/** Only the lines that tell how a delivery ended have this field. */
const PATTERN = '{ $.decision = "*" }';

/**
 * The lines since `sinceMs` (epoch ms), and those that come, until `signal` is aborted. Polls
 * FilterLogEvents, which costs nothing; CloudWatch's Live Tail is charged by the minute.
 * https://docs.aws.amazon.com/AmazonCloudWatchLogs/latest/APIReference/API_FilterLogEvents.html
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
    let nextToken: string | undefined;
    let newest = from;
    do {
      const { events = [], nextToken: next } = await client.send(
        new FilterLogEventsCommand({
          logGroupName,
          startTime: Math.max(sinceMs, from - LATE_MS),
          filterPattern: PATTERN,
          ...(nextToken !== undefined && { nextToken }),
        }),
      );
      for (const { eventId = "", timestamp = 0, message = "" } of events) {
        if (seen.has(eventId)) continue;
        seen.set(eventId, timestamp);
        newest = Math.max(newest, timestamp);
        yield message.trimEnd();
      }
      nextToken = next;
    } while (nextToken !== undefined && !signal.aborted);
    from = newest;
    for (const [eventId, timestamp] of seen) if (timestamp < from - LATE_MS) seen.delete(eventId);
    await sleep(POLL_MS, undefined, { signal }).catch(() => {});
  }
}
