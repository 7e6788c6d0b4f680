// How redriven messages ended: their records say so, or they are back in the dead-letter queue.
import { setTimeout as sleep } from "node:timers/promises";

import type { IdempotencyRecord } from "../../lib/payments/record.ts";
import { readRecords } from "../clients/records.ts";
import { describeOutcome } from "../explain/explain-record.ts";
import { startProgress } from "../terminal/progress.ts";
import { readDeadLetters } from "./dead-letters.ts";
import type { DeadLetter, DeadLetterQueue } from "./dead-letters.ts";
import { depthOf } from "./peek.ts";

export type Ended = {
  letter: DeadLetter;
  /** `outcome`: recorded. `back`: in the dead-letter queue again. `open`: neither yet. */
  kind: "outcome" | "back" | "open";
  sentence: string;
};

const POLL_MS = 1_000;

/** Watches the moved messages for `waitMs` at most, and less when all have ended. */
export async function followUp(
  queue: DeadLetterQueue,
  moved: readonly DeadLetter[],
  waitMs: number,
  signal: AbortSignal,
): Promise<Ended[]> {
  const endings = new Map<DeadLetter, Ended>();
  const open = () => moved.filter((letter) => !endings.has(letter));
  const giveUpAt = performance.now() + waitMs;
  const progress = startProgress("waiting for outcomes", moved.length);
  let lookedAt = 0;
  try {
    for (;;) {
      const letters = open();
      const before = endings.size;
      const records = await readRecords(queue.table, queue.tableName, letters.flatMap(idOf));
      for (const letter of letters) {
        const ended = endedBy(letter, records.get(letter.messageId ?? ""));
        if (ended) endings.set(letter, ended);
      }
      // A look at the dead-letter queue only when all that are open may be there, and it has changed.
      const { visible } = await depthOf(queue.sqs, queue.url);
      if (open().length > 0 && visible >= open().length && visible !== lookedAt) {
        lookedAt = visible;
        await findThoseBack(queue, open(), endings, signal);
      }
      progress.advance(endings.size - before);
      if (endings.size === moved.length || signal.aborted) break;
      if (performance.now() + POLL_MS > giveUpAt) break;
      await sleep(POLL_MS, undefined, { signal }).catch(() => {});
    }
  } finally {
    progress.done();
  }
  if (open().length > 0 && (await depthOf(queue.sqs, queue.url)).visible > 0) {
    await findThoseBack(queue, open(), endings, signal);
  }
  return moved.map(
    (letter) =>
      endings.get(letter) ?? {
        letter,
        kind: "open",
        sentence: "no outcome yet: see payments status",
      },
  );
}

function idOf({ messageId }: DeadLetter): string[] {
  return messageId === undefined ? [] : [messageId];
}

function endedBy(letter: DeadLetter, record: IdempotencyRecord | undefined): Ended | undefined {
  // Where the record is another payment's, its outcome is not this message's.
  if (!record?.outcome || letter.code === "conflict" || letter.code.startsWith("invalid/")) {
    return undefined;
  }
  return { letter, kind: "outcome", sentence: describeOutcome(record.outcome) };
}

/** One look, for those that are back. */
async function findThoseBack(
  queue: DeadLetterQueue,
  open: readonly DeadLetter[],
  endings: Map<DeadLetter, Ended>,
  signal: AbortSignal,
): Promise<void> {
  if (signal.aborted) return;
  const { letters } = await readDeadLetters(queue, signal);
  for (const letter of open) {
    const back = letters.find(
      (other) =>
        other.messageId === letter.messageId &&
        // Without an id, by the reason: SQS gave the message another id of its own.
        (letter.messageId !== undefined || other.code === letter.code),
    );
    if (back) endings.set(letter, { letter, kind: "back", sentence: `${back.code}: ${back.why}` });
  }
}
