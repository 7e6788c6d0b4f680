// The queue's scenarios against the local queue and against the simulation's model.

import { describe } from "vitest";

import { startQueue } from "../../local/queue/server.ts";
import { createQueue } from "../../simulation/models/queue.ts";
import { conform, during } from "./conform.ts";
import { queueScenarios } from "./scenarios/queue.ts";
import type { QueueSubject } from "./scenarios/queue.ts";
import { sqsApiScenarios } from "./scenarios/sqs-api.ts";
import { sqsClient } from "./servers/clients.ts";
import { createQueues, queueSubject } from "./servers/queues.ts";

describe("the local queue", () => {
  const server = during(() => startQueue());
  const queues = () => createQueues(sqsClient(server().url));
  conform(queueScenarios, async () => queueSubject(await queues()));
  conform(sqsApiScenarios, queues);
});

describe.each([{ takesStaleReceipts: true }, { takesStaleReceipts: false }])(
  "the simulation's queue, where it takes stale receipts: $takesStaleReceipts",
  ({ takesStaleReceipts }) => {
    conform(queueScenarios, () => simulatedQueue(takesStaleReceipts));
  },
);

function simulatedQueue(takesStaleReceipts: boolean): QueueSubject {
  const clock = { now: 1_795_980_729_855 };
  const queue = createQueue<string>({
    now: () => clock.now,
    visibilityTimeoutMs: 4_000,
    maxReceiveCount: 3,
    retentionMs: 345_600_000,
    takesStaleReceipts,
  });
  const receive = async () =>
    queue.receivable().map((message) => ({
      sqsMessageId: message.sqsMessageId,
      receipt: queue.receive(message),
      body: message.sent,
      receiveCount: message.receiveCount,
    }));
  return {
    send: async (body) => queue.send(body).sqsMessageId,
    receive,
    async receiveLater() {
      clock.now += 4_000;
      return receive();
    },
    remove: async (receipt) => queue.remove(receipt),
    setVisibility: async (receipt, seconds) => queue.setVisibility(receipt, seconds),
    async pass(seconds) {
      clock.now += seconds * 1_000;
    },
    deadLetters: async () =>
      queue.messages.filter(({ place }) => place === "dead-letter queue").map(({ sent }) => sent),
    redrive: async () => queue.redrive(),
  };
}
