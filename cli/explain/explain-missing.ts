// A message without an idempotency record in words: it was refused, or is not claimed yet, or is not there.
import type { DeadLetter, DeadLetterQueue } from "../queue/dead-letters.ts";
import { readDeadLetters } from "../queue/dead-letters.ts";
import { plural } from "../terminal/print.ts";
import type { Explanation } from "./explain-record.ts";

/** What a look through the dead-letter queue has found; `problem` when SQS did not let it be looked at. */
export type DeadLetters =
  | { letters: readonly DeadLetter[]; complete: boolean }
  | { problem: string };

/** Looks through the queue once. Never throws: of a message, the record is the main thing. */
export async function lookForDeadLetters(
  queue: DeadLetterQueue,
  signal: AbortSignal,
): Promise<DeadLetters> {
  try {
    const { letters, peek } = await readDeadLetters(queue, signal);
    return { letters, complete: peek.complete };
  } catch (error) {
    return { problem: (error as Error).message };
  }
}

/** The dead letters with this message id, or with this id of SQS's when they have none. */
export function deadLettersOf(messageId: string, dead: DeadLetters | undefined): DeadLetter[] {
  if (!dead || "problem" in dead) return [];
  return dead.letters.filter((letter) => (letter.messageId ?? letter.sqsMessageId) === messageId);
}

/** `dead` is undefined when nobody said which queue to look through. */
export function explainMissing(messageId: string, dead: DeadLetters | undefined): Explanation {
  const record: [string, string] = [
    "record",
    "none: no attempt has claimed it, or its record has expired",
  ];
  const reasons = Map.groupBy(deadLettersOf(messageId, dead), ({ code }) => code);
  const found = [...reasons.values()].flatMap(([first]) => (first ? [first] : []));
  if (found.length > 0) {
    return {
      state: "no record",
      lines: [
        record,
        ...found.flatMap(({ code, why, next }): Explanation["lines"] => [
          ["dead-letter queue", `${code}: ${why}`],
          ["next", next],
        ]),
      ],
    };
  }
  return {
    state: "no record",
    lines: [
      record,
      ...(dead ? [["dead-letter queue", absence(dead)] as [string, string]] : []),
      [
        "next",
        dead && "letters" in dead && dead.complete
          ? "if it is in the queue, it will be claimed; else it was never sent"
          : "if it is in the queue, it will be claimed; if it was refused, it is in the dead-letter queue (payments dlq); else it was never sent",
      ],
    ],
  };
}

function absence(dead: DeadLetters): string {
  if ("problem" in dead) return `could not be looked through: ${dead.problem}`;
  const nameless = dead.letters.filter((letter) => letter.messageId === undefined).length;
  return [
    dead.complete ? "not there" : "not found, and the look was not complete",
    ...(nameless > 0
      ? [`${plural(nameless, "message")} in it without a readable id: payments dlq shows them`]
      : []),
  ].join("; ");
}
