/** SQS on a laptop: fauxqs, with what the worker's users need and fauxqs lacks. */
import { setImmediate } from "node:timers/promises";

import { startAwsJsonServer } from "../aws-json-server.ts";
import type { AwsJsonServer, Seen } from "../aws-json-server.ts";
import type { Call } from "../aws-json.ts";
import type { Reply } from "../http-exchange.ts";
import type { Listening } from "../http-server.ts";
import { createFauxqs } from "./fauxqs.ts";
import type { MessageEvent } from "./fauxqs.ts";
import { depthOf, messagesOf } from "./messages.ts";
import type { Depth, QueuedMessage } from "./messages.ts";
import { createMoveTasks } from "./move-tasks.ts";
import { createReceipts } from "./receipts.ts";
import type { Received } from "./receipts.ts";
import { refusal } from "./refusal.ts";

/** What the log and the faults know of a request: the queue's name, and the bodies of the messages that
 * it sends, receives, deletes or changes. */
export type QueueRequest = { queue?: string; bodies: string[] };

export type QueueEvent =
  | MessageEvent
  | { type: "visibility changed"; queue: string; messageId: string; body: string; seconds: number };

export type Queues = { queueUrl: string; queueArn: string; dlqUrl: string; dlqArn: string };

export type QueueServer = AwsJsonServer<QueueRequest> & {
  /**
   * A queue and its dead-letter queue, named `<name>-dlq`, which keeps messages as long as SQS can.
   * Times are in seconds.
   */
  createQueues: (settings: {
    name: string;
    visibilityTimeoutSeconds: number;
    maxReceiveCount: number;
  }) => Promise<Queues>;
  /** What is in a queue. Not logged, and no fault touches it. */
  messages: (queueUrl: string) => Promise<QueuedMessage[]>;
  /** How many messages are in a queue, by state. Not logged, and no fault touches it. */
  depth: (queueUrl: string) => Promise<Depth>;
  /** Every queue, by name. */
  urls: () => ReadonlyMap<string, string>;
  /** Ends the receives of a queue that have begun, as an outage does: no later message goes to them. */
  endReceives: (queue: string) => Promise<void>;
  /** Makes the messages in a queue older. Returns how many there are. */
  age: (queueUrl: string, byMs: number) => number;
};

// https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/quotas-messages.html
const LONGEST_RETENTION_SECONDS = "1209600";

/** What fauxqs puts into its queue URLs: a name that need not resolve. */
const FAUXQS_HOST = /http:\/\/sqs\.[a-z0-9-]+\.localhost(:\d+)?/g;

/**
 * Point clients at it with an explicit endpoint: `AWS_ENDPOINT_URL_SQS` for the SDKs, `--endpoint-url` for
 * the AWS CLI, which ignores that variable. Its queue URLs resolve too: an SDK without an endpoint
 * goes to the queue URL's host.
 *
 * @throws when the port is taken
 */
export async function startQueue(
  options: Listening & { publish?: (event: QueueEvent) => void } = {},
): Promise<QueueServer> {
  const publish = (event: QueueEvent): void => {
    if (event.type === "message deleted") origins.delete(event.messageId);
    options.publish?.(event);
  };
  const fauxqs = createFauxqs(publish);
  const receipts = createReceipts(fauxqs);
  // Which queue each message was sent to, by SQS's MessageId: a redrive must know where to go back to.
  const origins = new Map<string, string>();
  const urls = new Map<string, string>();
  const receives = new Map<Call, string | undefined>();
  const moveTasks = createMoveTasks(fauxqs, origins);

  async function answer(call: Call, seen: Seen<QueueRequest>): Promise<Reply> {
    switch (call.operation) {
      case "StartMessageMoveTask":
        return moveTasks.start(call.input);
      case "ListMessageMoveTasks":
        return moveTasks.list(call.input);
      case "CancelMessageMoveTask":
        return moveTasks.cancel(call.input);
      case "DeleteMessage":
      case "DeleteMessageBatch":
        return receipts.answer(seen.queue, call);
      case "ChangeMessageVisibility":
      case "ChangeMessageVisibilityBatch": {
        const reply = await receipts.answer(seen.queue, call);
        if (reply.status === 200) publishVisibility(seen.queue, call.input, reply);
        return reply;
      }
      case "GetQueueAttributes": {
        const reply = await fauxqs.handle(call);
        return reply.status === 200 && seen.queue ? countedNow(seen.queue, reply) : reply;
      }
      case "ReceiveMessage":
        receives.set(call, seen.queue);
        return withQueue(call, seen).finally(() => receives.delete(call));
      default: {
        const empty = (call.input as Input).Entries?.findIndex((one) => one.MessageBody === "");
        // fauxqs rejects an empty body alone, and takes it in a batch.
        if (empty !== undefined && empty >= 0) return refusal(...missingBody(empty + 1));
        return withQueue(call, seen);
      }
    }
  }

  async function withQueue(call: Call, seen: Seen<QueueRequest>): Promise<Reply> {
    const reply = await fauxqs.handle(call);
    if (seen.queue === undefined) {
      return { ...reply, body: reply.body.replaceAll(FAUXQS_HOST, server.url) };
    }
    note(seen.queue, JSON.parse(reply.body) as Output, seen);
    return reply;
  }

  /** fauxqs counts as in flight what is visible again, until the next receive. */
  async function countedNow(queue: string, reply: Reply): Promise<Reply> {
    const { Attributes = {} } = JSON.parse(reply.body) as { Attributes?: Record<string, string> };
    const { visible, inFlight, delayed } = depthOf(await messages(queue));
    const counts = {
      ApproximateNumberOfMessages: visible,
      ApproximateNumberOfMessagesNotVisible: inFlight,
      ApproximateNumberOfMessagesDelayed: delayed,
    };
    for (const [name, count] of Object.entries(counts)) {
      if (name in Attributes) Attributes[name] = String(count);
    }
    return { ...reply, body: JSON.stringify({ Attributes }) };
  }

  function note(queue: string, output: Output, seen: Seen<QueueRequest>): void {
    for (const { MessageId } of [output, ...(output.Successful ?? [])]) {
      if (MessageId !== undefined) origins.set(MessageId, queue);
    }
    for (const message of output.Messages ?? []) {
      receipts.gaveOut(queue, message);
      seen.bodies.push(message.Body);
    }
  }

  function publishVisibility(queue: string | undefined, input: Input, { body }: Reply): void {
    const { Failed = [] } = JSON.parse(body || "{}") as { Failed?: { Id?: string }[] };
    const failed = new Set(Failed.map(({ Id }) => Id));
    for (const { Id, ReceiptHandle, VisibilityTimeout: seconds = 0 } of input.Entries ?? [input]) {
      const message = queue === undefined ? undefined : receipts.find(queue, ReceiptHandle);
      if (!queue || !message || (Id !== undefined && failed.has(Id))) continue;
      const { MessageId: messageId, Body } = message;
      publish({ type: "visibility changed", queue, messageId, body: Body, seconds });
    }
  }

  function describe(_action: string, input: Input): QueueRequest {
    if (typeof input.QueueUrl !== "string") return { bodies: [] };
    const queue = nameOf(input.QueueUrl);
    const entries = Array.isArray(input.Entries) ? input.Entries : [input];
    const bodies = entries.map(
      ({ MessageBody, ReceiptHandle }) => MessageBody ?? receipts.find(queue, ReceiptHandle)?.Body,
    );
    return { queue, bodies: bodies.filter((body) => body !== undefined) };
  }

  const server = await startAwsJsonServer<QueueRequest>({
    ...options,
    about: "SQS on this machine. List the queues: aws sqs list-queues --endpoint-url URL",
    now: Date.now,
    describe,
    answer,
  });

  async function messages(queueUrl: string): Promise<QueuedMessage[]> {
    const queue = await fauxqs.queue(nameOf(queueUrl));
    if (!queue) throw new Error(`There is no queue ${queueUrl}: create it with createQueues.`);
    return messagesOf(queue, Date.now());
  }

  return {
    ...server,
    async createQueues({ name, visibilityTimeoutSeconds, maxReceiveCount }) {
      const dlqName = `${name}-dlq`;
      const dlqArn = arnOf(dlqName);
      await fauxqs.call("CreateQueue", {
        QueueName: dlqName,
        Attributes: { MessageRetentionPeriod: LONGEST_RETENTION_SECONDS },
      });
      await fauxqs.call("CreateQueue", {
        QueueName: name,
        Attributes: {
          VisibilityTimeout: String(visibilityTimeoutSeconds),
          RedrivePolicy: JSON.stringify({ deadLetterTargetArn: dlqArn, maxReceiveCount }),
        },
      });
      const queueUrl = `${server.url}/000000000000/${name}`;
      const dlqUrl = `${server.url}/000000000000/${dlqName}`;
      urls.set(name, queueUrl).set(dlqName, dlqUrl);
      return { queueUrl, queueArn: arnOf(name), dlqUrl, dlqArn };
    },
    messages,
    depth: async (queueUrl) => depthOf(await messages(queueUrl)),
    urls: () => urls,
    async endReceives(queue) {
      const begun = [...receives].filter(([, of]) => of === queue).map(([call]) => call);
      while (begun.some((call) => receives.has(call))) {
        fauxqs.endPolls(queue);
        await setImmediate();
      }
    },
    age: (queueUrl, byMs) => fauxqs.age(nameOf(queueUrl), byMs),
    async stop() {
      await Promise.all([moveTasks.stop(), fauxqs.close(), server.stop()]);
    },
  };
}

type Entry = {
  Id?: string;
  MessageBody?: string;
  ReceiptHandle?: string;
  VisibilityTimeout?: number;
};
type Input = Entry & { QueueUrl?: unknown; Entries?: Entry[] };
type Output = {
  MessageId?: string;
  Successful?: { MessageId?: string }[];
  Messages?: Received[];
};

function missingBody(entry: number): [code: string, message: string] {
  const parameter = `SendMessageBatchRequestEntry.${entry}.MessageBody`;
  return ["MissingParameter", `The request must contain the parameter ${parameter}.`];
}

function arnOf(name: string): string {
  return `arn:aws:sqs:us-east-1:000000000000:${name}`;
}

function nameOf(queueUrl: string): string {
  return queueUrl.slice(queueUrl.lastIndexOf("/") + 1);
}
