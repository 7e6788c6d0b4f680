// Where the demo plays: the local stack, what has been sent, and what is watched.
import { SendMessageCommand, SQSClient } from "@aws-sdk/client-sqs";

import { startStack } from "../../local/stack.ts";
import type { Stack } from "../../local/stack.ts";
import { messageBody } from "../../scripts/message-body.ts";
import type { Operation, Shape } from "../../scripts/message-body.ts";
import { DEMO_WORKER } from "./timings.ts";
import type { Sent } from "./verdict.ts";
import { startWatch } from "./watch.ts";
import type { Watch } from "./watch.ts";

/** Something that goes wrong, on purpose. */
export type PlannedFault = {
  id: string;
  /** What a visitor reads. */
  story: string;
  /** How often it really happened. */
  happened: () => number;
};

export type Stage = {
  stack: Stack;
  watch: Watch;
  /** A client of the queue for what producers and operators do. */
  sqs: SQSClient;
  sent: Sent[];
  /** The worker's own lines: shown only when the promise was broken. */
  workerLog: string[];
  /** Sends an operation and returns the SQS MessageId. */
  send: (id: string, changes?: Partial<Operation>, shape?: Shape) => Promise<string>;
  /** Sends this very text. */
  sendBody: (id: string, body: string, amount: number) => Promise<string>;
};

export async function openStage(): Promise<Stage> {
  const watch = startWatch();
  const sent: Sent[] = [];
  const workerLog: string[] = [];
  const stack = await startStack({
    worker: DEMO_WORKER,
    onEvent: watch.onEvent,
    onLog: ({ line }) => void workerLog.push(line),
  });
  const sqs = new SQSClient({
    endpoint: stack.queue.url,
    region: "us-east-1",
    credentials: { accessKeyId: "local", secretAccessKey: "local" },
  });

  async function sendBody(id: string, body: string, amount: number): Promise<string> {
    watch.expect(body, id);
    if (!sent.some((earlier) => earlier.body === body)) sent.push({ id, body, amount });
    const { MessageId = "" } = await sqs.send(
      new SendMessageCommand({ QueueUrl: stack.queues.queueUrl, MessageBody: body }),
    );
    return MessageId;
  }

  return {
    stack,
    watch,
    sqs,
    sent,
    workerLog,
    sendBody,
    send(id, changes = {}, shape = "plain") {
      const operation = {
        id,
        sentAt: new Date(),
        amount: 1250,
        currency: "eur",
        customer: "cus_demo",
        paymentMethod: "pm_card_visa",
        ...changes,
      };
      return sendBody(id, messageBody(shape, operation), operation.amount);
    },
  };
}
