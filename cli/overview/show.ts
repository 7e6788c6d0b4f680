// The overview for a person.
import { plural, utc } from "../terminal/print.ts";
import { duration } from "../terminal/progress.ts";
import { table } from "../terminal/table.ts";
import type { Overview } from "./read.ts";

/** `since` is when the results begin, epoch ms. */
export function showOverview(overview: Overview, since: number): string {
  const { queue, alarms, redrive, deadLetters, near, deliveries, results } = overview;
  const { visible, inFlight, delayed, oldestSeconds = 0 } = queue;
  const dead = deadLetters.reduce((sum, { messages }) => sum + messages, 0);
  return [
    ...(alarms === undefined
      ? []
      : [
          section(
            `${plural(alarms.length, "alarm fires", "alarms fire")}${alarms.length > 0 ? ": docs/runbook.md has a section for each" : ""}`,
            ["alarm", "since (UTC)"],
            alarms.map(({ name, since }) => [name, since === undefined ? "" : time(since)]),
          ),
        ]),
    `queue  ${count(visible)} visible, ${count(inFlight)} in flight, ${count(delayed)} delayed${
      oldestSeconds > 0 ? `; oldest ${duration(1_000 * oldestSeconds)}` : ""
    }`,
    section(
      plural(dead, "dead letter"),
      ["messages", "reason", "least time left"],
      deadLetters.map(({ messages, reason, secondsLeft }) => [
        count(messages),
        reason,
        duration(1_000 * secondsLeft),
      ]),
    ),
    ...(redrive
      ? [`redrive  ${count(redrive.moved)} moved, ${count(redrive.remaining)} to go`]
      : []),
    ...(near.length > 0
      ? [
          section(
            "Near the dead-letter queue",
            ["message", "receive", "code", "next (UTC)"],
            near.map(({ messageId, receive, of, code, next }) => [
              messageId,
              `${receive} of ${of}`,
              code,
              next,
            ]),
          ),
        ]
      : []),
    section(
      `${plural(deliveries, "delivery", "deliveries")} since ${utc(since)} UTC`,
      ["deliveries", "messages", "result", "code", "first (UTC)", "last (UTC)"],
      results.map(({ deliveries, messages, result, code, first, last }) => [
        count(deliveries),
        count(messages),
        result,
        code,
        time(first),
        time(last),
      ]),
    ),
  ].join("\n\n");
}

const time = (instant: string | number): string => utc(new Date(instant).getTime()).slice(11);
const count = (value: number): string => value.toLocaleString("en-US");
const section = (title: string, head: string[], rows: string[][]): string =>
  rows.length === 0 ? title : `${title}\n${table(head, rows)}`;
