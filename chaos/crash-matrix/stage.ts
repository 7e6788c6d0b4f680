// A stack of its own for each row, and what producers and the queue do in it.
import {
  ChangeMessageVisibilityCommand,
  MessageNotInflight,
  SendMessageCommand,
  SQSClient,
} from "@aws-sdk/client-sqs";

import { startStack } from "../../local/stack.ts";
import type { Stack } from "../../local/stack.ts";
import type { WorkerSettings } from "../../local/worker-settings.ts";
import { messageBody } from "../../scripts/message-body.ts";
import { followDeliveries } from "./deliveries.ts";
import type { Deliveries, Delivery } from "./deliveries.ts";
import { until } from "./until.ts";

export type Stage = {
  stack: Stack;
  deliveries: Deliveries;
  /** The body of a payment's message, always the same. */
  body: (id: string) => string;
  /** Sends a payment's message. */
  send: (id: string) => Promise<void>;
  /** Delivers the message once more, as SQS may at any time, even after a delete. */
  deliverAgain: (id: string, delivery: Delivery) => Promise<void>;
  /** Leaves two processes that have each handled a message; false when they never ran at once. */
  warmUp: () => Promise<boolean>;
  /** Waits until no message is left; one that stays is seen when the end is read. */
  settled: () => Promise<void>;
};

/** Minor units. */
export const AMOUNT = 1250;
const WARM_UP_MS = 15_000;
// Every wait of a row, one after the other: visibility timeout, lease, visibility timeout.
const SETTLED_MS = 90_000;

export async function openStage(worker: WorkerSettings): Promise<Stage> {
  const deliveries = followDeliveries();
  const stack = await startStack({ worker, onEvent: deliveries.onEvent });
  const sqs = new SQSClient({
    endpoint: stack.queue.url,
    region: "us-east-1",
    credentials: { accessKeyId: "local", secretAccessKey: "local" },
  });
  const QueueUrl = stack.queues.queueUrl;
  const sentAt = new Date();
  let warmUps = 0;

  const body = (id: string): string =>
    messageBody("plain", {
      id,
      sentAt,
      amount: AMOUNT,
      currency: "eur",
      customer: "cus_kills",
      paymentMethod: "pm_card_visa",
    });
  const send = async (id: string): Promise<void> => {
    await sqs.send(new SendMessageCommand({ QueueUrl, MessageBody: body(id) }));
  };

  return {
    stack,
    deliveries,
    body,
    send,
    async deliverAgain(id, { receiptHandle }) {
      const there = await stack.queue.messages(QueueUrl);
      if (there.some((message) => message.body === body(id))) {
        const change = { QueueUrl, ReceiptHandle: receiptHandle, VisibilityTimeout: 0 };
        await sqs.send(new ChangeMessageVisibilityCommand(change)).catch((error: unknown) => {
          // It is visible already.
          if (!(error instanceof MessageNotInflight)) throw error;
        });
      } else {
        await send(id);
      }
    },
    async warmUp() {
      const giveUpAfter = warmUps + 10;
      while (warmUps < giveUpAfter) {
        const ids = [`warm-up-${(warmUps += 1)}`, `warm-up-${(warmUps += 1)}`];
        await Promise.all(ids.map(send));
        const handled = () => ids.flatMap((id) => deliveries.of(id).filter(({ over }) => over));
        await until(WARM_UP_MS, () => handled().length === ids.length);
        if (new Set(handled().map(({ pid }) => pid)).size === ids.length) return true;
      }
      return false;
    },
    settled: () => stack.drained(SETTLED_MS).catch(() => {}),
  };
}
