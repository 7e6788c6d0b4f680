// The worker's own code in this process, on a clock that a test moves, against the local table,
// queue and Stripe over HTTP. The event source is the test itself: it receives, invokes and deletes.

import { randomUUID } from "node:crypto";

import {
  ChangeMessageVisibilityCommand,
  DeleteMessageCommand,
  MessageNotInflight,
  ReceiveMessageCommand,
  SendMessageCommand,
  SQSClient,
} from "@aws-sdk/client-sqs";
import type { Message } from "@aws-sdk/client-sqs";
import { PutCommand, UpdateCommand } from "@aws-sdk/lib-dynamodb";
import type { SQSRecord } from "aws-lambda";
import { onTestFinished } from "vitest";

import { createDynamoDb, createSqs } from "../../lib/aws/clients.ts";
import { recordsTable } from "../../lib/aws/records-table.ts";
import type { LogLine } from "../../lib/lambda/emf.ts";
import { createPaymentHandler } from "../../lib/lambda/payment-handler.ts";
import { fixedKey } from "../../lib/stripe/api-key.ts";
import type { StripeKeys } from "../../lib/stripe/api-key.ts";
import { stripeCharges } from "../../lib/stripe/charges.ts";
import type { WorkerTimings } from "../../lib/timing/payments.ts";
import { startQueue } from "../../local/queue/server.ts";
import { startStripe } from "../../local/stripe/server.ts";
import type { StripeServer } from "../../local/stripe/server.ts";
import { startTable } from "../../local/table/server.ts";
import { WORKER_TIMINGS } from "./timings.ts";

export const START = Date.parse("2026-11-29T12:00:00Z");

/** A message that is good in every way, but for what a test changes. */
export function payment(changes: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    id: "order-1001",
    createdAt: "2026-11-29T11:59:00Z",
    amount: 1200,
    currency: "eur",
    customer: "cus_ada",
    paymentMethod: "pm_card_visa",
    ...changes,
  };
}

type ReceiveOptions = {
  /** What the invocation has left, in ms. */
  remainingMs?: number;
  /** The poller dies after the handler's answer: nothing is deleted. */
  loseAcknowledgement?: boolean;
};

export type Invocation = {
  /** What the handler threw. */
  error?: unknown;
  /** Bodies that were not acknowledged, as the handler answered. */
  failed: string[];
  acknowledged: string[];
  lines: LogLine[];
  /** The handler's own answer. */
  itemIdentifiers: string[];
};

export type WorkerOptions = {
  timings?: Partial<WorkerTimings>;
  keys?: StripeKeys;
  maxReceiveCount?: number;
  /** Another worker's: this one has its own table and queue, as in another region. */
  shares?: { clock: { now: number }; stripe: StripeServer };
};

/** Starts everything, and stops it when the test is finished. */
export async function startWorker(options: WorkerOptions = {}) {
  const clock = options.shares?.clock ?? { now: START };
  const now = () => clock.now;
  const [table, stripe, queue] = await Promise.all([
    startTable({ now }),
    options.shares?.stripe ?? startStripe({ now }),
    startQueue(),
  ]);
  onTestFinished(async () => {
    await Promise.all([table.stop(), queue.stop(), !options.shares && stripe.stop()]);
  });
  await table.createRecordsTable("records");
  const { queueUrl, dlqUrl, dlqArn } = await queue.createQueues({
    name: "payments",
    visibilityTimeoutSeconds: 360,
    maxReceiveCount: options.maxReceiveCount ?? 14,
  });

  Object.assign(process.env, {
    AWS_REGION: "us-east-1",
    AWS_ACCESS_KEY_ID: "local",
    AWS_SECRET_ACCESS_KEY: "local",
  });
  const timings = { ...WORKER_TIMINGS, ...options.timings };
  const aws = {
    credentials: { accessKeyId: "local", secretAccessKey: "local" },
    callTimeoutMs: timings.callTimeoutMs,
  };
  const lines: LogLine[] = [];
  const client = new SQSClient({ endpoint: queue.url });
  const documents = createDynamoDb({ ...aws, endpoint: table.url });
  const handler = createPaymentHandler({
    records: recordsTable(documents, "records"),
    charges: stripeCharges(options.keys ?? fixedKey("sk_test_local"), new URL(stripe.url)),
    queue: { client: createSqs({ ...aws, endpoint: queue.url }), url: queueUrl },
    functionName: "payment-worker",
    timings,
    now,
    random: () => 0.5,
    newOwner: randomUUID,
    write: (line) => lines.push(line),
  });

  let invocations = 0;
  const unacknowledged = new Map<string, Message>();

  /** Receives what is visible, at most ten, and makes one batch of it. */
  const receive = async ({
    remainingMs = 60_000,
    loseAcknowledgement = false,
  }: ReceiveOptions = {}): Promise<Invocation> => {
    const { Messages: messages = [] } = await client.send(
      new ReceiveMessageCommand({
        QueueUrl: queueUrl,
        MaxNumberOfMessages: 10,
        MessageSystemAttributeNames: ["All"],
      }),
    );
    return invoke(messages, remainingMs, loseAcknowledgement);
  };

  const invoke = async (
    messages: Message[],
    remainingMs: number,
    loseAcknowledgement: boolean,
  ): Promise<Invocation> => {
    const Records = messages.map(({ MessageId, ReceiptHandle, Body, Attributes }) => ({
      messageId: MessageId,
      receiptHandle: ReceiptHandle,
      body: Body,
      attributes: { ApproximateReceiveCount: Attributes?.ApproximateReceiveCount ?? "1" },
      messageAttributes: {},
    })) as unknown as SQSRecord[];
    const awsRequestId = `request-${(invocations += 1)}`;
    const invocationStart = clock.now;
    const context = {
      awsRequestId,
      getRemainingTimeInMillis: () => remainingMs - (clock.now - invocationStart),
    };
    let itemIdentifiers: string[] = messages.map((message) => message.MessageId ?? "");
    let error: unknown;
    try {
      const response = await handler({ Records }, context);
      itemIdentifiers = response.batchItemFailures.map((failure) => failure.itemIdentifier);
    } catch (thrown) {
      error = thrown;
    }
    const failed: string[] = [];
    const acknowledged: string[] = [];
    for (const message of messages) {
      const { MessageId = "", ReceiptHandle, Body = "" } = message;
      const isFailed = itemIdentifiers.includes(MessageId);
      (isFailed ? failed : acknowledged).push(Body);
      if (isFailed || loseAcknowledgement) unacknowledged.set(MessageId, message);
      else await client.send(new DeleteMessageCommand({ QueueUrl: queueUrl, ReceiptHandle }));
    }
    const ended = {
      failed,
      acknowledged,
      itemIdentifiers,
      lines: lines.filter((line) => line["requestId"] === awsRequestId),
    };
    return error === undefined ? ended : { ...ended, error };
  };

  /** Makes every message that was not acknowledged visible, and receives again. */
  const redeliver = async (options?: ReceiveOptions): Promise<Invocation> => {
    for (const { ReceiptHandle } of unacknowledged.values()) {
      const change = { QueueUrl: queueUrl, ReceiptHandle, VisibilityTimeout: 0 };
      await client.send(new ChangeMessageVisibilityCommand(change)).catch((error: unknown) => {
        // The worker has made it visible already.
        if (!(error instanceof MessageNotInflight)) throw error;
      });
    }
    unacknowledged.clear();
    return receive(options);
  };

  const send = async (...bodies: unknown[]): Promise<void> => {
    for (const body of bodies) {
      const MessageBody = typeof body === "string" ? body : JSON.stringify(body);
      await client.send(new SendMessageCommand({ QueueUrl: queueUrl, MessageBody }));
    }
  };

  return {
    clock,
    table,
    stripe,
    queue,
    queueUrl,
    dlqUrl,
    dlqArn,
    client,
    /** For other functions on the same servers. */
    aws,
    documents,
    timings,
    send,
    receive,
    redeliver,
    /** Sends the bodies and handles them as one batch. */
    deliver: async (...bodies: unknown[]): Promise<Invocation> => {
      await send(...bodies);
      return receive();
    },
    record: (messageId: string) => table.item("records", messageId),
    records: () => table.items("records"),
    /** Puts a record, whatever the protocol says. */
    put: async (Item: Record<string, unknown>): Promise<void> => {
      await documents.send(new PutCommand({ TableName: "records", Item }));
    },
    /** A charge that somebody else makes at Stripe, with these fields. */
    chargeElsewhere: (fields: Record<string, string>) =>
      fetch(`${stripe.url}/v1/payment_intents`, {
        method: "POST",
        headers: { authorization: "Bearer sk_test_local" },
        body: new URLSearchParams({
          amount: "1200",
          currency: "eur",
          payment_method: "pm_card_visa",
          confirm: "true",
          off_session: "true",
          ...fields,
        }),
      }),
    /** Damages a record, or makes it one of an earlier version. */
    removeAttributes: async (messageId: string, ...names: string[]): Promise<void> => {
      const update = new UpdateCommand({
        TableName: "records",
        Key: { messageId },
        UpdateExpression: `REMOVE ${names.map((_, i) => `#${i}`).join()}`,
        ExpressionAttributeNames: Object.fromEntries(names.map((name, i) => [`#${i}`, name])),
      });
      await documents.send(update);
    },
  };
}
