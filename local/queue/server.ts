/** SQS on a laptop: fauxqs, with what the worker's users need and fauxqs lacks. */
import { startAwsJsonServer } from "../aws-json-server.ts";
import type { AwsJsonServer, Call, Reply, Seen } from "../aws-json-server.ts";
import { createFauxqs } from "./fauxqs.ts";
import type { StoredMessage, StoredQueue } from "./fauxqs.ts";

/** What the log and the faults know of a request: the queue's name, and the bodies of the messages that
 * it sends, receives, deletes or changes. */
export type QueueRequest = { queue?: string; bodies: string[] };

export type Queues = { queueUrl: string; queueArn: string; dlqUrl: string; dlqArn: string };

/** A message that is in a queue, as someone who only looks sees it. */
export type QueuedMessage = {
  sqsMessageId: string;
  body: string;
  sentAtMs: number;
  receiveCount: number;
  state: "visible" | "in flight" | "delayed";
};

export type QueueServer = AwsJsonServer<QueueRequest> & {
  /** A queue and its dead-letter queue, named `<name>-dlq`. Times are in seconds. */
  createQueues: (settings: {
    name: string;
    visibilityTimeoutSeconds: number;
    maxReceiveCount: number;
    retentionSeconds?: number;
  }) => Promise<Queues>;
  /** What is in a queue, without receiving it. Not logged, and no fault touches it. */
  messages: (queueUrl: string) => Promise<QueuedMessage[]>;
  /** How many messages are in a queue, by state. */
  depth: (queueUrl: string) => Promise<{ visible: number; inFlight: number; delayed: number }>;
};

/**
 * @param options.port 0 or absent for any free one
 * @throws when the port is taken
 */
export async function startQueue(options: { port?: number } = {}): Promise<QueueServer> {
  const fauxqs = createFauxqs();

  async function answer(call: Call, _seen: Seen<QueueRequest>): Promise<Reply> {
    const reply = await fauxqs.handle(call);
    return { ...reply, body: reply.body.replaceAll(FAUXQS_HOST, server.url) };
  }

  const server = await startAwsJsonServer<QueueRequest>({
    port: options.port ?? 0,
    now: Date.now,
    describe,
    answer,
  });

  async function messages(queueUrl: string): Promise<QueuedMessage[]> {
    const queue = (await fauxqs.queues()).find(({ name }) => name === nameOf(queueUrl));
    if (!queue) throw new Error(`There is no queue ${queueUrl}: create it with createQueues.`);
    return held(queue, Date.now());
  }

  return {
    ...server,
    messages,
    async createQueues({ name, visibilityTimeoutSeconds, maxReceiveCount, retentionSeconds }) {
      const retention = retentionSeconds && { MessageRetentionPeriod: String(retentionSeconds) };
      const dlqName = `${name}-dlq`;
      await fauxqs.call("CreateQueue", { QueueName: dlqName, Attributes: { ...retention } });
      await fauxqs.call("CreateQueue", {
        QueueName: name,
        Attributes: {
          ...retention,
          VisibilityTimeout: String(visibilityTimeoutSeconds),
          RedrivePolicy: JSON.stringify({ deadLetterTargetArn: arnOf(dlqName), maxReceiveCount }),
        },
      });
      return {
        queueUrl: `${server.url}/000000000000/${name}`,
        queueArn: arnOf(name),
        dlqUrl: `${server.url}/000000000000/${dlqName}`,
        dlqArn: arnOf(dlqName),
      };
    },
    async depth(queueUrl) {
      const depth = { visible: 0, inFlight: 0, delayed: 0 };
      for (const { state } of await messages(queueUrl)) {
        depth[state === "in flight" ? "inFlight" : state] += 1;
      }
      return depth;
    },
    async stop() {
      await Promise.all([fauxqs.close(), server.stop()]);
    },
  };
}

/** fauxqs puts a host into its queue URLs that need not resolve. */
const FAUXQS_HOST = /http:\/\/sqs\.[a-z0-9-]+\.localhost(:\d+)?/g;

function arnOf(name: string): string {
  return `arn:aws:sqs:us-east-1:000000000000:${name}`;
}

function nameOf(queueUrl: string): string {
  return queueUrl.slice(queueUrl.lastIndexOf("/") + 1);
}

function describe(_action: string, input: Record<string, unknown>): QueueRequest {
  const { QueueUrl } = input;
  return { ...(typeof QueueUrl === "string" && { queue: nameOf(QueueUrl) }), bodies: [] };
}

/** fauxqs moves messages between states only when somebody receives: the times say where they are now. */
function held(queue: StoredQueue, now: number): QueuedMessage[] {
  const { ready, delayed, inflight } = queue.messages;
  return [
    ...ready.map((message) => queued(message, "visible")),
    ...delayed.map((message) => queued(message, message.delayUntil > now ? "delayed" : "visible")),
    ...inflight.map(({ message, visibilityDeadline }) =>
      queued(message, visibilityDeadline > now ? "in flight" : "visible"),
    ),
  ];
}

function queued(message: StoredMessage, state: QueuedMessage["state"]): QueuedMessage {
  return {
    sqsMessageId: message.messageId,
    body: message.body,
    sentAtMs: message.sentTimestamp,
    receiveCount: message.approximateReceiveCount,
    state,
  };
}
