// What the worker and its users rely on in SQS, on a standard queue with a dead-letter queue.

import { expect } from "vitest";

import { documentedBy } from "../conform.ts";
import type { Scenario } from "../conform.ts";

export type Received = {
  sqsMessageId: string;
  receipt: string;
  body: string;
  receiveCount: number;
};

/** Two fresh queues. The visibility timeout is 4 s, and the third receive is the last. */
export type QueueSubject = {
  send: (body: string) => Promise<string>;
  /** What can be received now. */
  receive: () => Promise<Received[]>;
  /** What can be received within a few seconds, of virtual time where that is the time. */
  receiveLater: () => Promise<Received[]>;
  remove: (receipt: string) => Promise<unknown>;
  setVisibility: (receipt: string, seconds: number) => Promise<unknown>;
  /** Lets this time pass. */
  pass: (seconds: number) => Promise<void>;
  /** The bodies in the dead-letter queue, seen without receiving or by receiving. */
  deadLetters: () => Promise<string[]>;
  /** Moves every dead letter back, and resolves when that is done. */
  redrive: () => Promise<unknown>;
};

const VISIBILITY =
  "https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-visibility-timeout.html";
const IDENTIFIERS =
  "https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-queue-message-identifiers.html";
const DEAD_LETTERS =
  "https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-dead-letter-queues.html";
const DELETE =
  "https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_DeleteMessage.html";

/** The only message that can be received now. */
async function receiveOne(queue: QueueSubject): Promise<Received> {
  return only(await queue.receive());
}

function only(received: Received[]): Received {
  expect(received).toHaveLength(1);
  const [one] = received;
  if (!one) throw new Error("Bug! One message is none.");
  return one;
}

/** Receives the only message as often as the queue lets it, and so sends it to the dead letters. */
async function poison(queue: QueueSubject): Promise<void> {
  for (let receive = 1; receive <= 3; receive++) {
    const { receipt, receiveCount } = only(await queue.receiveLater());
    expect(receiveCount).toBe(receive);
    await queue.setVisibility(receipt, 0);
  }
  expect(await queue.receive()).toEqual([]);
}

export const queueScenarios: readonly Scenario<QueueSubject>[] = [
  ...documentedBy<QueueSubject>(VISIBILITY, {
    async "a message that was received is not received again before its visibility timeout"(queue) {
      const sqsMessageId = await queue.send("one");

      const received = await receiveOne(queue);

      expect(received).toMatchObject({ sqsMessageId, body: "one", receiveCount: 1 });
      expect(await queue.receive()).toEqual([]);
    },
  }),
  ...documentedBy<QueueSubject>(IDENTIFIERS, {
    async "after its visibility timeout a message comes back: same id, counted, another receipt"(
      queue,
    ) {
      await queue.send("one");
      const first = await receiveOne(queue);

      const again = only(await queue.receiveLater());

      expect(again.sqsMessageId).toBe(first.sqsMessageId);
      expect(again.receiveCount).toBe(2);
      expect(again.receipt).not.toBe(first.receipt);
    },
  }),
  ...documentedBy<QueueSubject>(DELETE, {
    async "a deleted message never comes back"(queue) {
      await queue.send("one");
      const { receipt } = await receiveOne(queue);

      await queue.remove(receipt);

      await queue.pass(5);
      expect(await queue.receive()).toEqual([]);
      expect(await queue.deadLetters()).toEqual([]);
    },
  }),
  ...documentedBy<QueueSubject>(VISIBILITY, {
    async "a visibility of 0 brings a message back at once"(queue) {
      await queue.send("one");
      const { receipt } = await receiveOne(queue);

      await queue.setVisibility(receipt, 0);

      expect(await receiveOne(queue)).toMatchObject({ body: "one", receiveCount: 2 });
    },

    async "a longer visibility keeps a message away beyond the queue's own timeout"(queue) {
      await queue.send("one");
      const { receipt } = await receiveOne(queue);

      await queue.setVisibility(receipt, 60);

      await queue.pass(5);
      expect(await queue.receive()).toEqual([]);
    },
  }),
  ...documentedBy<QueueSubject>(DELETE, {
    async "deleting with the receipt of an earlier receive is no error"(queue) {
      await queue.send("one");
      const first = await receiveOne(queue);
      await queue.setVisibility(first.receipt, 0);
      await receiveOne(queue);

      // "The request succeeds, but the message might not be deleted": both are right.
      await queue.remove(first.receipt);
    },
  }),
  ...documentedBy<QueueSubject>(DEAD_LETTERS, {
    async "after its last receive a message is in the dead-letter queue, and only there"(queue) {
      await queue.send("poison");

      await poison(queue);

      expect(await queue.deadLetters()).toEqual(["poison"]);
      await queue.pass(5);
      expect(await queue.receive()).toEqual([]);
    },
  }),
  ...documentedBy<QueueSubject>(
    "https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-configure-dead-letter-queue-redrive.html",
    {
      async "a redriven message has the same body, another id, and is counted from 1"(queue) {
        const sqsMessageId = await queue.send("poison");
        await poison(queue);

        await queue.redrive();

        const back = only(await queue.receiveLater());
        expect(back).toMatchObject({ body: "poison", receiveCount: 1 });
        expect(back.sqsMessageId).not.toBe(sqsMessageId);
      },
    },
  ),
  ...documentedBy<QueueSubject>(IDENTIFIERS, {
    async "two equal bodies are two messages"(queue) {
      const ids = [await queue.send("same"), await queue.send("same")];

      const received = [...(await queue.receive()), ...(await queue.receive())];

      expect(received.map(({ sqsMessageId }) => sqsMessageId).toSorted()).toEqual(ids.toSorted());
      expect(ids[0]).not.toBe(ids[1]);
    },
  }),
];
