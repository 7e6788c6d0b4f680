// A delivery's result in words: its code, and what follows.
import { backoffCeilingMs } from "../../lib/timing/backoff.ts";
import type { Backoff } from "../../lib/timing/backoff.ts";
import type { ResultLine } from "../clients/results.ts";
import { utc } from "../terminal/print.ts";

/** The kind and the code of a failure, the code of a decline, or the rule that was broken. */
export function codeOf({ kind, code, rule }: ResultLine): string {
  return [kind, code ?? rule].filter((part) => part !== undefined).join("/");
}

/** What follows a delivery's result: the worker's own rules, with the random part of its backoff open. */
export function nextOf(
  { decision, timestamp, receiveCount = 1 }: ResultLine,
  backoff: Backoff,
): string {
  switch (decision) {
    case "completed":
    case "duplicate":
      return "acknowledged";
    case "invalid":
    case "conflict":
    case "rejected":
      return "at once, until the dead-letter queue";
    case "in_progress":
      return "when the lease ends";
    default: {
      const ceiling = backoffCeilingMs(backoff, receiveCount);
      const at = Date.parse(timestamp);
      return `${utc(at + ceiling / 2)} to ${utc(at + ceiling).slice(11)}`;
    }
  }
}
