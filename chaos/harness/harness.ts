// A local stack under test: what producers and operators do to it, what was sent, and what the servers
// saw of it.
import {
  ListMessageMoveTasksCommand,
  SendMessageCommand,
  SQSClient,
  StartMessageMoveTaskCommand,
} from "@aws-sdk/client-sqs";

import type { Timings } from "../../lib/timing/payments.ts";
import { paymentWorker } from "../../local/payment-worker.ts";
import { startStack } from "../../local/stack.ts";
import type { Stack } from "../../local/stack.ts";
import { messageBody } from "../../scripts/message-body.ts";
import type { Operation, Shape } from "../../scripts/message-body.ts";
import { workerSettings } from "../timings.ts";
import { followDeliveries } from "./deliveries.ts";
import type { Deliveries } from "./deliveries.ts";
import { collectEvidence } from "./evidence.ts";
import { reachVerdict } from "./verdict.ts";
import type { Sent, Verdict } from "./verdict.ts";

/** Something that goes wrong, on purpose. */
export type PlannedFault = {
  /** The message that it happens to, if it is one. */
  id?: string;
  what: string;
  /** How often it really happened. */
  happened: () => number;
};

export type Harness = {
  stack: Stack;
  sqs: SQSClient;
  deliveries: Deliveries;
  /** How many messages were sent, repeats too. */
  sent: () => number;
  /** Sends this very body; returns SQS's id of the message. */
  send: (message: Sent) => Promise<string>;
  /** An operator's redrive of the whole dead-letter queue; returns how many messages were moved. */
  redrive: () => Promise<number>;
  /** Moves the clocks of Stripe and of the table, and not the worker's. */
  advanceServers: (ms: number) => void;
  /** Stop the worker first, or see that it is idle. */
  verdict: () => Promise<Verdict>;
};

export async function openHarness(timings: Timings): Promise<Harness> {
  let aheadMs = 0;
  const stack = await startStack({
    functions: [paymentWorker(workerSettings(timings))],
    now: () => Date.now() + aheadMs,
  });
  const sqs = new SQSClient({
    endpoint: stack.queue.url,
    region: "us-east-1",
    credentials: { accessKeyId: "local", secretAccessKey: "local" },
    maxAttempts: 10, // a producer that gives up has not sent
  });
  const { queueUrl: QueueUrl, dlqArn: SourceArn } = stack.queues;
  const bodies = new Map<string, Sent>();
  let sent = 0;
  const readEvidence = collectEvidence(stack);

  return {
    stack,
    sqs,
    deliveries: followDeliveries(
      stack.feed,
      stack.worker.name,
      (body) => bodies.get(body)?.id ?? body,
    ),
    sent: () => sent,
    async send(message) {
      bodies.set(message.body, message);
      sent += 1;
      const { MessageId = "" } = await sqs.send(
        new SendMessageCommand({ QueueUrl, MessageBody: message.body }),
      );
      return MessageId;
    },
    async redrive() {
      await sqs.send(new StartMessageMoveTaskCommand({ SourceArn }));
      for (;;) {
        const { Results: [newest] = [] } = await sqs.send(
          new ListMessageMoveTasksCommand({ SourceArn, MaxResults: 1 }),
        );
        if (newest?.Status !== "RUNNING") return newest?.ApproximateNumberOfMessagesMoved ?? 0;
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    },
    advanceServers: (ms) => void (aheadMs += ms),
    verdict: async () => reachVerdict(await readEvidence([...bodies.values()])),
  };
}

/** A payment's message, with what is given in place of the usual. */
export function payment(
  id: string,
  changes: Partial<Operation> = {},
  shape: Shape = "plain",
): Sent {
  const operation = {
    id,
    sentAt: new Date(),
    amount: 1250,
    currency: "eur",
    customer: "cus_local",
    paymentMethod: "pm_card_visa",
    ...changes,
  };
  return { id, amount: operation.amount, body: messageBody(shape, operation) };
}
