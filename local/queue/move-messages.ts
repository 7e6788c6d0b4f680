/**
 * Redrive: moving what is in a dead-letter queue back, or to another queue. A moved message is a new
 * message: a new MessageId, a new sent timestamp, no receives.
 * https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-configure-dead-letter-queue-redrive.html
 */
import { setTimeout as sleep } from "node:timers/promises";

import type { Fauxqs, StoredQueue } from "./fauxqs.ts";

export type Move = {
  source: StoredQueue;
  /** Where every message goes; absent: each to the queue that it was sent to. */
  destinationArn: string | undefined;
  perSecond: number | undefined;
  status: "RUNNING" | "COMPLETED" | "CANCELLING" | "CANCELLED" | "FAILED";
  moved: number;
  toMove: number;
  failure: string | undefined;
  cancelling: AbortController;
};

/** Moves messages and keeps the move's progress in it. Never rejects: a failure becomes its status. */
export async function moveMessages(
  fauxqs: Fauxqs,
  origins: Map<string, string>,
  move: Move,
): Promise<void> {
  const { signal } = move.cancelling;
  try {
    while (move.moved < move.toMove && !signal.aborted) {
      if (!(await moveOne(fauxqs, origins, move))) break;
      move.moved += 1;
      if (move.perSecond) await sleep(1000 / move.perSecond, undefined, { signal });
    }
    move.status = signal.aborted ? "CANCELLED" : "COMPLETED";
  } catch (error) {
    move.status = signal.aborted ? "CANCELLED" : "FAILED";
    if (!signal.aborted) move.failure = (error as Error).message;
  }
}

type Message = {
  MessageId: string;
  ReceiptHandle: string;
  Body: string;
  MessageAttributes?: Record<string, unknown>;
};

/** Resolves with false when the queue is empty. @throws with SQS's reason why the task must fail */
async function moveOne(
  fauxqs: Fauxqs,
  origins: Map<string, string>,
  { source, destinationArn }: Move,
): Promise<boolean> {
  const { Messages: [message] = [] } = await fauxqs.call<{ Messages?: Message[] }>(
    "ReceiveMessage",
    { QueueUrl: source.name, MessageAttributeNames: ["All"] },
  );
  if (!message) return false;
  const receipt = { QueueUrl: source.name, ReceiptHandle: message.ReceiptHandle };

  try {
    const destination = destinationArn?.replace(/^.*:/, "") ?? origins.get(message.MessageId);
    // A message that was sent straight to the dead-letter queue came from nowhere.
    if (destination === undefined || destination === source.name) {
      throw new Error("CouldNotDetermineMessageSource");
    }
    const { MessageId } = await fauxqs.call<{ MessageId: string }>("SendMessage", {
      QueueUrl: destination,
      MessageBody: message.Body,
      MessageAttributes: message.MessageAttributes,
    });
    origins.set(MessageId, destination);
  } catch (error) {
    await fauxqs.call("ChangeMessageVisibility", { ...receipt, VisibilityTimeout: 0 });
    throw error;
  }
  await fauxqs.call("DeleteMessage", receipt);
  return true;
}
