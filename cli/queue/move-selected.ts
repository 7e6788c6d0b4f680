// Moves some messages of a dead-letter queue, which SQS's own task cannot do: it moves all of them.
//
//   receive ──► send to the destination ──► delete
//                   ✗1                        ✗2       it may die at each arrow
//
//   ✗1: the message is still here alone. ✗2: it is in both queues, and the protocol charges it once.
//   Deleting first could lose it.
import { DeleteMessageCommand, SendMessageCommand } from "@aws-sdk/client-sqs";
import type { Message, SQSClient } from "@aws-sdk/client-sqs";

import { createPace } from "../../lib/stripe/pace.ts";
import { reasonsFor } from "./dead-letters.ts";
import type { DeadLetter, DeadLetterQueue } from "./dead-letters.ts";
import { peekAt } from "./peek.ts";
import type { Peek, Received } from "./peek.ts";

type MovedSome = {
  moved: DeadLetter[];
  /** Sent, and still in the dead-letter queue too: harmless, and a further redrive removes it. */
  notDeleted: number;
  notSent: { letter: DeadLetter; problem: string }[];
  peek: Peek;
};

/**
 * Moves the messages that `wanted` picks: `limit` at most, and at most `perSecond` per second. `expected`
 * is how many the queue is thought to hold.
 */
export async function moveSelected(
  queue: DeadLetterQueue,
  destination: { sqs: SQSClient; url: string },
  choice: {
    wanted: (letter: DeadLetter) => boolean;
    limit: number;
    perSecond: number | undefined;
    expected: number;
  },
  signal: AbortSignal,
): Promise<MovedSome> {
  const result: Omit<MovedSome, "peek"> = { moved: [], notDeleted: 0, notSent: [] };
  let taken = 0;
  const pace = createPace(choice.perSecond ?? Infinity, { signal });

  /** True when the message has left the dead-letter queue. */
  const moveOne = async (received: Received, letter: DeadLetter): Promise<boolean> => {
    await pace(async () => {}).catch(() => {}); // interrupted
    if (signal.aborted) return false;
    try {
      await destination.sqs.send(copyOf(received.message, destination.url));
    } catch (error) {
      result.notSent.push({ letter, problem: (error as Error).message });
      return false;
    }
    result.moved.push(letter);
    try {
      const { url: QueueUrl } = queue;
      await queue.sqs.send(
        new DeleteMessageCommand({ QueueUrl, ReceiptHandle: received.receiptHandle }),
      );
      return true;
    } catch {
      result.notDeleted += 1;
      return false;
    }
  };

  const peek = await peekAt(
    queue.sqs,
    queue.url,
    { messages: choice.expected, perSecond: choice.perSecond },
    signal,
    async (batch) => {
      const letters = await reasonsFor(queue, batch, Date.now());
      const disposed = new Set<string>();
      await Promise.all(
        letters.map(async (letter, index) => {
          const received = batch[index];
          if (!received || taken >= choice.limit || !choice.wanted(letter)) return;
          taken += 1;
          if (await moveOne(received, letter)) disposed.add(letter.sqsMessageId);
        }),
      );
      return { disposed, enough: taken >= choice.limit };
    },
  );
  return { ...result, peek };
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
