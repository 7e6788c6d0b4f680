// A message in words: its record, where it is now, and what comes next.
import type { IdempotencyRecord } from "../../lib/payments/record.ts";
import { deadLettersOf, placeOf } from "../queue/locate.ts";
import type { Place, Queues } from "../queue/locate.ts";
import { reasonOfAttempt } from "../queue/reason.ts";
import { plural } from "../terminal/print.ts";
import type { Lines, RecordExplanation } from "./explain-record.ts";

export type MessageExplanation = {
  state: RecordExplanation["state"] | "no record";
  place: Place;
  lines: Lines;
  next: string;
  /** Whether nothing more happens to it without an operator or its sender. */
  needsAction: boolean;
};

/** `id` is a message id, or SQS's own of a message without one. */
export function explainMessage(
  id: string,
  record: IdempotencyRecord | undefined,
  explained: RecordExplanation | undefined,
  queues: Queues,
): MessageExplanation {
  const state = explained?.state ?? "no record";
  const place = placeOf(id, queues);
  const letters = deadLettersOf(id, queues);
  const reasons = [...Map.groupBy(letters, ({ code }) => code).values()].flatMap(([one]) =>
    one ? [one] : [],
  );
  const lines: Lines = [
    ...(explained?.lines ?? [["record", "none: not claimed yet, or expired"]]),
    ...reasons.map(({ code, why }): Lines[number] => ["dead-letter queue", `${code}: ${why}`]),
  ];
  if (state !== "completed" && letters.length === 0) lines.push(...describeQueues(queues));
  const next =
    reasons.length > 0
      ? reasons.map((reason) => reason.next).join(" ")
      : nextOf(state, explained?.next, place, record);
  const stays = state === "expired" || state === "no record";
  return {
    state,
    place,
    lines,
    next,
    needsAction: letters.length > 0 || (stays && place === "gone"),
  };
}

function describeQueues({ queue, dead }: Queues): Lines {
  const lines: Lines = [];
  if (queue) {
    const { visible, inFlight, delayed } = queue;
    lines.push(["queue", `${visible} visible, ${inFlight} in flight, ${delayed} delayed`]);
  }
  if (dead) lines.push(["dead-letter queue", describeAbsence(dead)]);
  return lines;
}

function describeAbsence(dead: NonNullable<Queues["dead"]>): string {
  if ("problem" in dead) return `could not be read: ${dead.problem}`;
  const nameless = dead.letters.filter(({ messageId }) => messageId === undefined).length;
  return [
    dead.complete ? "not there" : "not found, but not all of it was read",
    ...(nameless > 0
      ? [`${plural(nameless, "message")} in it without a readable id: payments dlq shows them`]
      : []),
  ].join("; ");
}

function nextOf(
  state: MessageExplanation["state"],
  next: string | undefined,
  place: Place,
  record: IdempotencyRecord | undefined,
): string {
  if (state === "completed" || state === "in_progress") return next ?? "";
  if (!record || next === undefined) {
    if (place === "gone") return "it is in neither queue: it was never sent, or not under this id";
    const claimed = "if it is in the queue, it will be claimed; otherwise it was never sent";
    return place === "unknown"
      ? `${claimed}, or is invalid and in the dead-letter queue (payments dlq)`
      : claimed;
  }
  if (place === "gone") {
    return `its message is in neither queue: the sender sends it again with the same id, and ${next}`;
  }
  if (place === "queue or gone") return `if it is in the queue, ${next}`;
  return `${next}. If the message is in the dead-letter queue (payments dlq): ${reasonOfAttempt(record).next}`;
}
