// Moves some messages of a dead-letter queue, which SQS's own task cannot do: it moves all of them.
//
//   receive ──► send to the destination ──► delete
//                   ✗1                        ✗2       it may die at each arrow
//
//   ✗1: the message is still here alone. ✗2: it is in both queues, and the protocol charges it once.
//   Deleting first could lose it.
import { DeleteMessageCommand, SendMessageCommand } from "@aws-sdk/client-sqs";
import type { Message } from "@aws-sdk/client-sqs";

import { createPace } from "../../lib/stripe/pace.ts";
import { sqsFor } from "../clients/clients.ts";
import { plural } from "../terminal/print.ts";
import { nameOf } from "./dead-letters.ts";
import type { DeadLetter, DeadLetterQueue } from "./dead-letters.ts";
import { depthOf, peekAt } from "./peek.ts";
import type { Received } from "./peek.ts";

/** Moves these messages to the queue `to`, at most `perSecond` per second, and no other that came since. */
export async function moveSelected(
  { sqs, url: QueueUrl }: DeadLetterQueue,
  to: string,
  chosen: readonly DeadLetter[],
  perSecond: number | undefined,
  signal: AbortSignal,
): Promise<{ moved: DeadLetter[]; problems: string[] }> {
  const destination = sqsFor(to);
  const waiting = new Map(chosen.map((letter) => [letter.sqsMessageId, letter]));
  const moved: DeadLetter[] = [];
  const problems: string[] = [];
  let notDeleted = 0;
  const pace = createPace(perSecond ?? Infinity, { signal });

  /** True when the message has left the dead-letter queue. */
  const move = async ({ message, receiptHandle }: Received, letter: DeadLetter) => {
    await pace(async () => {}).catch(() => {}); // interrupted
    if (signal.aborted) return false;
    try {
      await destination.send(copyOf(message, to));
    } catch (error) {
      problems.push(`${nameOf(letter)} stayed: ${(error as Error).message}`);
      return false;
    }
    moved.push(letter);
    try {
      await sqs.send(new DeleteMessageCommand({ QueueUrl, ReceiptHandle: receiptHandle }));
      return true;
    } catch {
      notDeleted += 1;
      return false;
    }
  };

  const { visible: messages } = await depthOf(sqs, QueueUrl);
  await peekAt(sqs, QueueUrl, { messages, perSecond }, signal, async (batch) => {
    const disposed = new Set<string>();
    await Promise.all(
      batch.map(async (received) => {
        const { sqsMessageId } = received;
        const letter = waiting.get(sqsMessageId);
        waiting.delete(sqsMessageId);
        if (letter && (await move(received, letter))) disposed.add(sqsMessageId);
      }),
    );
    return { disposed, enough: waiting.size === 0 };
  });
  if (notDeleted > 0) {
    problems.push(
      `${plural(notDeleted, "message")} could not be deleted, so it is in both queues: that is harmless, and another redrive removes it.`,
    );
  }
  return { moved, problems };
}

/** The message as its sender sent it, with its attributes and its trace. */
function copyOf(message: Message, queueUrl: string): SendMessageCommand {
  const trace = message.Attributes?.AWSTraceHeader;
  return new SendMessageCommand({
    QueueUrl: queueUrl,
    MessageBody: message.Body,
    ...(message.MessageAttributes && { MessageAttributes: message.MessageAttributes }),
    ...(trace !== undefined && {
      MessageSystemAttributes: { AWSTraceHeader: { DataType: "String", StringValue: trace } },
    }),
  });
}
