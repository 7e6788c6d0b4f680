// Each message of the dead-letter queue with the reason why it is there.
import { decodeMessage } from "../../lib/message/decode.ts";
import type { Decoded } from "../../lib/message/decode.ts";
import type { IdempotencyRecord } from "../../lib/payments/record.ts";
import { sqsFor, tableFor, timingsFor } from "../clients/clients.ts";
import { readRecords } from "../clients/records.ts";
import { need } from "../clients/target.ts";
import type { Target } from "../clients/target.ts";
import { depthOf, peekAt } from "./peek.ts";
import type { Depth, Peek, Received } from "./peek.ts";
import { reasonOf } from "./reason.ts";
import type { Reason } from "./reason.ts";

/** A dead letter without its body, so that a hundred thousand of them fit into memory. */
export type DeadLetter = Reason & {
  /** Absent when the body has no readable one. */
  messageId: string | undefined;
  sqsMessageId: string;
  sentAt: number;
  receiveCount: number;
  /** The attempts that its record counts. */
  attempt: number;
};

export type DeadLetterQueue = ReturnType<typeof deadLetterQueueOf>;

export function deadLetterQueueOf(target: Target) {
  const url = need(target, "dlqUrl");
  return {
    sqs: sqsFor(url),
    url,
    table: tableFor(target),
    tableName: need(target, "tableName"),
    timings: timingsFor(target),
  };
}

/** The reasons of a batch that was just received. `now` is in epoch ms. */
export async function reasonsFor(
  { table, tableName, timings }: DeadLetterQueue,
  batch: readonly Received[],
  now: number,
): Promise<DeadLetter[]> {
  const decoded = batch.map(({ body, schemaVersion }) =>
    decodeMessage(body, now, timings, schemaVersion),
  );
  const ids = decoded.flatMap((one) => (one.kind === "message" ? one.message.id : []));
  const records = await readRecords(table, tableName, ids);
  return batch.map((received, index) => {
    const one = decoded[index];
    if (!one) throw new Error("Bug! A message without its decoding.");
    return letterOf(received, one, records.get(idOf(one) ?? ""), now);
  });
}

/** `record` is the one under its message id. */
export function letterOf(
  {
    sqsMessageId,
    sentAt,
    receiveCount,
  }: Pick<Received, "sqsMessageId" | "sentAt" | "receiveCount">,
  decoded: Decoded,
  record: IdempotencyRecord | undefined,
  now: number,
): DeadLetter {
  const attempt = record?.attempt ?? 0;
  const reason = reasonOf(decoded, record, now);
  return { messageId: idOf(decoded), sqsMessageId, sentAt, receiveCount, attempt, ...reason };
}

/** The message id; of what is invalid too, when it can be read. */
export const idOf = (decoded: Decoded): string | undefined =>
  decoded.kind === "message" ? decoded.message.id : decoded.messageId;

/** Everything in the dead-letter queue, oldest first. Nothing is consumed. `keep` sees each body. */
export async function readDeadLetters(
  queue: DeadLetterQueue,
  signal: AbortSignal,
  keep?: (letter: DeadLetter, received: Received) => void,
): Promise<{ letters: DeadLetter[]; depth: Depth; peek: Peek }> {
  const depth = await depthOf(queue.sqs, queue.url);
  const letters: DeadLetter[] = [];
  const expected = { messages: depth.visible };
  const peek = await peekAt(queue.sqs, queue.url, expected, signal, async (batch) => {
    const some = await reasonsFor(queue, batch, Date.now());
    letters.push(...some);
    for (const [index, received] of batch.entries()) {
      const letter = some[index];
      if (letter) keep?.(letter, received);
    }
    return { disposed: new Set(), enough: false };
  });
  return { letters: letters.toSorted((a, b) => a.sentAt - b.sentAt), depth, peek };
}

/** By reason, the largest group first; in it the oldest first, as they are given. */
export function groupByReason(letters: readonly DeadLetter[]) {
  const groups = Map.groupBy(letters, ({ code }) => code);
  return [...groups]
    .flatMap(([code, letters]) => {
      const [oldest] = letters;
      return oldest ? [{ code, why: oldest.why, next: oldest.next, letters, oldest }] : [];
    })
    .toSorted((a, b) => b.letters.length - a.letters.length);
}

/** The message id, or SQS's own for a body without a readable one. */
export function nameOf({ messageId, sqsMessageId }: DeadLetter): string {
  return messageId ?? `(no id) ${sqsMessageId}`;
}
