// Where the messages of stuck claims are: a record cannot say, the queues can.
import { sqsFor } from "../clients/clients.ts";
import type { Target } from "../clients/target.ts";
import { deadLetterQueueOf, readDeadLetters } from "../queue/dead-letters.ts";
import { depthOf } from "../queue/peek.ts";

/** Where a message is and what to do, for a person. */
export type LocateMessage = (messageId: string) => string;

/** Peeks into the dead-letter queue once; undefined when the target names no queues. */
export async function locateMessages(
  target: Target,
  signal: AbortSignal,
): Promise<LocateMessage | undefined> {
  const { queueUrl, dlqUrl } = target.resources;
  if (queueUrl === undefined || dlqUrl === undefined) return undefined;
  const { letters, peek } = await readDeadLetters(deadLetterQueueOf(target), signal);
  const dead = new Map(letters.map((letter) => [letter.messageId, letter] as const));
  const { visible, inFlight, delayed } = await depthOf(sqsFor(queueUrl), queueUrl);
  const gone = visible + inFlight + delayed === 0 && peek.complete;
  return (messageId) => {
    const letter = dead.get(messageId);
    if (letter) return `its message is in the dead-letter queue, ${letter.code}: ${letter.next}`;
    if (gone) return "its message is gone: the sender sends it again, with the same id";
    return "its message is in the queue, or gone: reconcile again when the queue is empty";
  };
}
