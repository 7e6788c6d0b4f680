// Peeks at a whole queue once. SQS cannot be read without receiving: each message is received once,
// hidden while the peek lasts, and given back.
import {
  ChangeMessageVisibilityBatchCommand,
  GetQueueAttributesCommand,
  OverLimit,
  ReceiveMessageCommand,
} from "@aws-sdk/client-sqs";
import type { Message, SQSClient } from "@aws-sdk/client-sqs";

import { startProgress } from "../terminal/progress.ts";

export type Received = {
  message: Message;
  sqsMessageId: string;
  receiptHandle: string;
  body: string;
  /** When the message was first sent, epoch ms: its retention counts from then. */
  sentAt: number;
  receiveCount: number;
  /** BabelQueue's message attribute. */
  schemaVersion: string | undefined;
};

export type Depth = Awaited<ReturnType<typeof depthOf>>;

export async function depthOf(sqs: SQSClient, queueUrl: string) {
  const { Attributes: attributes = {} } = await sqs.send(
    new GetQueueAttributesCommand({ QueueUrl: queueUrl, AttributeNames: ["All"] }),
  );
  const { maxReceiveCount = Infinity } = JSON.parse(attributes.RedrivePolicy ?? "{}") as {
    maxReceiveCount?: number | string;
  };
  return {
    arn: attributes.QueueArn ?? "",
    visible: Number(attributes.ApproximateNumberOfMessages),
    inFlight: Number(attributes.ApproximateNumberOfMessagesNotVisible),
    delayed: Number(attributes.ApproximateNumberOfMessagesDelayed),
    retentionMs: Number(attributes.MessageRetentionPeriod) * 1_000,
    /** Of its redrive policy; Infinity without one. */
    maxReceiveCount: Number(maxReceiveCount),
  };
}

export type Peek = {
  /** False when it was interrupted, ended by `visit`, or SQS had no room for more in flight. */
  complete: boolean;
  /** Messages whose visibility could not be given back: they are hidden for `hiddenSeconds` at most. */
  notGivenBack: number;
  hiddenSeconds: number;
};

const POLLERS = 4;

/**
 * Receives every visible message once. `visit` gets them in batches and returns those that it has
 * disposed of; all others become visible again at the end, also after Ctrl-C. It ends the peek by
 * `enough`.
 *
 * The receive count of each message goes up by one, which does no harm in a dead-letter queue.
 */
export async function peekAt(
  sqs: SQSClient,
  queueUrl: string,
  expected: { messages: number; perSecond?: number | undefined },
  signal: AbortSignal,
  visit: (batch: Received[]) => Promise<{ disposed: ReadonlySet<string>; enough: boolean }>,
): Promise<Peek> {
  // Long enough for the slowest peek; after a killed one, nothing is hidden for more than an hour.
  const hiddenSeconds = Math.min(
    3_600,
    120 + Math.ceil(expected.messages / Math.min(50, expected.perSecond ?? 50)),
  );
  const handles = new Map<string, string>();
  const known = new Set<string>();
  const progress = startProgress("peeking", expected.messages);
  let complete = true;
  let ended = false;

  const poll = async (): Promise<void> => {
    while (!ended) {
      if (signal.aborted) {
        complete = false;
        return;
      }
      const batch = await receive(sqs, queueUrl, hiddenSeconds);
      if (batch === "over limit") {
        complete = false;
        return;
      }
      // A long poll asks all of SQS's servers: an empty answer is the end.
      if (batch.length === 0) return;
      for (const { sqsMessageId, receiptHandle } of batch) handles.set(sqsMessageId, receiptHandle);
      const fresh = batch.filter(({ sqsMessageId }) => !known.has(sqsMessageId));
      for (const { sqsMessageId } of fresh) known.add(sqsMessageId);
      const { disposed, enough } = await visit(fresh);
      for (const sqsMessageId of disposed) handles.delete(sqsMessageId);
      progress.advance(fresh.length);
      if (enough) {
        ended = true;
        complete = false;
      }
    }
  };
  const polls = await Promise.allSettled(
    Array.from({ length: POLLERS }, () =>
      poll().finally(() => {
        ended = true;
      }),
    ),
  );
  progress.done();
  // Before anything is thrown: what was received must not stay hidden.
  const notGivenBack = await giveBack(sqs, queueUrl, [...handles.values()]);
  const failure = polls.find((poll) => poll.status === "rejected");
  if (failure) throw failure.reason;
  return { complete, notGivenBack, hiddenSeconds };
}

async function receive(
  sqs: SQSClient,
  queueUrl: string,
  hiddenSeconds: number,
): Promise<Received[] | "over limit"> {
  try {
    const { Messages = [] } = await sqs.send(
      new ReceiveMessageCommand({
        QueueUrl: queueUrl,
        MaxNumberOfMessages: 10,
        WaitTimeSeconds: 1,
        VisibilityTimeout: hiddenSeconds,
        MessageSystemAttributeNames: ["All"],
        MessageAttributeNames: ["All"],
      }),
    );
    return Messages.map(received);
  } catch (error) {
    // 120,000 messages in flight is all that SQS allows.
    if (error instanceof OverLimit) return "over limit";
    throw error;
  }
}

function received(message: Message): Received {
  return {
    message,
    sqsMessageId: message.MessageId ?? "",
    receiptHandle: message.ReceiptHandle ?? "",
    body: message.Body ?? "",
    sentAt: Number(message.Attributes?.SentTimestamp),
    receiveCount: Number(message.Attributes?.ApproximateReceiveCount),
    schemaVersion: message.MessageAttributes?.["bq-schema-version"]?.StringValue,
  };
}

/** Makes the messages visible again; returns how many could not be. */
async function giveBack(sqs: SQSClient, queueUrl: string, handles: string[]): Promise<number> {
  const progress = startProgress("giving back", handles.length);
  let failed = 0;
  const tens = Array.from({ length: Math.ceil(handles.length / 10) }, (_, index) =>
    handles.slice(10 * index, 10 * index + 10),
  );
  const next = async (): Promise<void> => {
    for (let ten = tens.pop(); ten; ten = tens.pop()) {
      const { Failed = [] } = await sqs.send(
        new ChangeMessageVisibilityBatchCommand({
          QueueUrl: queueUrl,
          Entries: ten.map((ReceiptHandle, index) => ({
            Id: String(index),
            ReceiptHandle,
            VisibilityTimeout: 0,
          })),
        }),
      );
      failed += Failed.length;
      progress.advance(ten.length);
    }
  };
  try {
    await Promise.all(Array.from({ length: POLLERS }, next));
  } finally {
    progress.done();
  }
  return failed;
}
