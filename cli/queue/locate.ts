// Where messages are: a record cannot say, the queues can.
import { sqsFor } from "../clients/clients.ts";
import type { Target } from "../clients/target.ts";
import { deadLetterQueueOf, readDeadLetters } from "./dead-letters.ts";
import type { DeadLetter } from "./dead-letters.ts";
import { depthOf } from "./peek.ts";
import type { Depth } from "./peek.ts";

/** What both queues hold; a side is absent when the target does not name its queue. */
export type Queues = {
  queue?: Pick<Depth, "visible" | "inFlight" | "delayed">;
  /** `problem`: SQS did not allow it. */
  dead?: { letters: readonly DeadLetter[]; complete: boolean } | { problem: string };
};

/** Peeks into the dead-letter queue once. Never throws: the record is the main thing. */
export async function readQueues(target: Target, signal: AbortSignal): Promise<Queues> {
  const { queueUrl, dlqUrl } = target.resources;
  const queues: Queues = {};
  if (dlqUrl !== undefined) {
    try {
      const { letters, peek } = await readDeadLetters(deadLetterQueueOf(target), signal);
      queues.dead = { letters, complete: peek.complete };
    } catch (error) {
      queues.dead = { problem: (error as Error).message };
    }
  }
  if (queueUrl !== undefined) {
    const depth = await depthOf(sqsFor(queueUrl), queueUrl).catch(() => undefined);
    if (depth) queues.queue = depth;
  }
  return queues;
}

/** The dead letters with this message id, or with this id of SQS's. */
export function deadLettersOf(id: string, { dead }: Queues): DeadLetter[] {
  if (!dead || "problem" in dead) return [];
  return dead.letters.filter((letter) => letter.messageId === id || letter.sqsMessageId === id);
}

/** `gone`: in neither queue. `unknown`: not all of it could be seen. */
export type Place = "dead-letter queue" | "queue or gone" | "gone" | "unknown";

export function placeOf(id: string, queues: Queues): Place {
  const { queue, dead } = queues;
  if (deadLettersOf(id, queues).length > 0) return "dead-letter queue";
  if (!queue || !dead || "problem" in dead || !dead.complete) return "unknown";
  return queue.visible + queue.inFlight + queue.delayed > 0 ? "queue or gone" : "gone";
}

/** Where the message of a stuck claim is and what to do, as a sentence. */
export function describePlace(id: string, queues: Queues): string {
  const [letter] = deadLettersOf(id, queues);
  if (letter) return `its message is in the dead-letter queue, ${letter.code}: ${letter.next}`;
  if (placeOf(id, queues) === "gone") {
    return "its message is gone: the sender sends it again, with the same id";
  }
  return "its message is in the queue, or gone: reconcile again when the queue is empty";
}
