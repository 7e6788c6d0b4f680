// Where a soak takes place: the local stack, what was sent, and what the servers hold of it.
import { SendMessageCommand, SQSClient } from "@aws-sdk/client-sqs";

import type { EventSourceEvent } from "../../local/event-source/events.ts";
import { startStack } from "../../local/stack.ts";
import type { Stack } from "../../local/stack.ts";
import type { Sent } from "./producer.ts";
import { collectReasons } from "./reasons.ts";
import { soakWorker } from "./timings.ts";
import type { Evidence, RecordedItem } from "./verdict.ts";

export type Site = {
  stack: Stack;
  sqs: SQSClient;
  sent: readonly Sent[];
  send: (message: Sent) => Promise<void>;
  deliveries: () => number;
  /** Moves Stripe's clock and the table's, and not the worker's. */
  advanceServers: (ms: number) => void;
  /** Stop the event source first: between two reads a message could move. */
  evidence: () => Promise<Evidence>;
};

export async function openSite(onEvent: (event: EventSourceEvent) => void): Promise<Site> {
  const sent: Sent[] = [];
  const reasons = collectReasons();
  let deliveries = 0;
  let aheadMs = 0;
  const stack = await startStack({
    worker: soakWorker(),
    now: () => Date.now() + aheadMs,
    onLog: ({ line }) => reasons.read(line),
    onEvent(event) {
      if (event.type === "received") deliveries += event.messages.length;
      onEvent(event);
    },
  });
  const sqs = new SQSClient({
    endpoint: stack.queue.url,
    region: "us-east-1",
    credentials: { accessKeyId: "local", secretAccessKey: "local" },
    maxAttempts: 10, // a producer that gives up has not sent
  });
  const { queueUrl, dlqUrl } = stack.queues;

  return {
    stack,
    sqs,
    sent,
    async send(message) {
      sent.push(message);
      await sqs.send(new SendMessageCommand({ QueueUrl: queueUrl, MessageBody: message.body }));
    },
    deliveries: () => deliveries,
    advanceServers: (ms) => void (aheadMs += ms),
    async evidence() {
      const { stripe, table, queue, tableName } = stack;
      const records = (await table.items(tableName)) as RecordedItem[];
      return {
        sent,
        records,
        charges: stripe.ledger.charges(),
        intents: stripe.paymentIntents(),
        waiting: (await queue.messages(queueUrl)).map(({ body }) => body),
        deadLetters: reasons.of(await queue.messages(dlqUrl), sent, records),
      };
    },
  };
}
