// What became of redriven messages: their records say so, or they are back in the dead-letter queue.
import { setTimeout as sleep } from "node:timers/promises";

import type { IdempotencyRecord } from "../../lib/payments/record.ts";
import { readRecords } from "../clients/records.ts";
import { describeOutcome } from "../explain/explain-record.ts";
import { startProgress } from "../terminal/progress.ts";
import { readDeadLetters } from "./dead-letters.ts";
import type { DeadLetter, DeadLetterQueue } from "./dead-letters.ts";
import { depthOf } from "./peek.ts";

export type FollowedUp = {
  letter: DeadLetter;
  /** `outcome`: recorded. `back`: in the dead-letter queue again. `open`: neither yet. */
  kind: "outcome" | "back" | "open";
  sentence: string;
};

const POLL_MS = 1_000;

/** Watches the moved messages for `waitMs` at most, less when each has a result. */
export async function followUp(
  queue: DeadLetterQueue,
  moved: readonly DeadLetter[],
  waitMs: number,
  signal: AbortSignal,
): Promise<FollowedUp[]> {
  const results = new Map<DeadLetter, FollowedUp>();
  const open = () => moved.filter((letter) => !results.has(letter));
  const timeoutAt = performance.now() + waitMs;
  const progress = startProgress("waiting for outcomes", moved.length);
  let peekedAt = 0;
  try {
    for (;;) {
      const letters = open();
      const before = results.size;
      const records = await readRecords(queue.table, queue.tableName, letters.flatMap(idOf));
      for (const letter of letters) {
        const result = resultOf(letter, records.get(letter.messageId ?? ""));
        if (result) results.set(letter, result);
      }
      // Peeks only when all that are open may be there, and their number has changed.
      const { visible } = await depthOf(queue.sqs, queue.url);
      if (open().length > 0 && visible >= open().length && visible !== peekedAt) {
        peekedAt = visible;
        await findThoseBack(queue, open(), results, signal);
      }
      progress.advance(results.size - before);
      if (results.size === moved.length || signal.aborted) break;
      if (performance.now() + POLL_MS > timeoutAt) break;
      await sleep(POLL_MS, undefined, { signal }).catch(() => {});
    }
  } finally {
    progress.done();
  }
  if (open().length > 0 && (await depthOf(queue.sqs, queue.url)).visible > 0) {
    await findThoseBack(queue, open(), results, signal);
  }
  return moved.map(
    (letter) =>
      results.get(letter) ?? {
        letter,
        kind: "open",
        sentence: "no outcome yet: see payments status",
      },
  );
}

function idOf({ messageId }: DeadLetter): string[] {
  return messageId === undefined ? [] : [messageId];
}

function resultOf(
  letter: DeadLetter,
  record: IdempotencyRecord | undefined,
): FollowedUp | undefined {
  // Where the record is another payment's, its outcome is not this message's.
  if (!record?.outcome || letter.code === "conflict" || letter.code.startsWith("invalid/")) {
    return undefined;
  }
  return { letter, kind: "outcome", sentence: describeOutcome(record.outcome) };
}

/** One peek, for those that are back. */
async function findThoseBack(
  queue: DeadLetterQueue,
  open: readonly DeadLetter[],
  results: Map<DeadLetter, FollowedUp>,
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
    if (back) results.set(letter, { letter, kind: "back", sentence: `${back.code}: ${back.why}` });
  }
}
