/** fauxqs in this process, without a socket of its own. */
import { buildApp } from "fauxqs";
import type { BuildAppOptions, SqsSpyMessage } from "fauxqs";

import { SqsStore } from "../../node_modules/fauxqs/dist/sqs/sqsStore.js";
import type { Call } from "../aws-json.ts";
import type { Reply } from "../http-exchange.ts";
import { takeAnyCharacter } from "./any-character.ts";

/** A message as fauxqs holds it. */
export type StoredMessage = {
  messageId: string;
  body: string;
  sentTimestamp: number;
  approximateReceiveCount: number;
};

export type StoredQueue = {
  name: string;
  arn: string;
  attributes: { RedrivePolicy?: string };
  messages: {
    ready: StoredMessage[];
    delayed: (StoredMessage & { delayUntil: number })[];
    inflight: { message: StoredMessage; receiptHandle: string; visibilityDeadline: number }[];
  };
};

export type Fauxqs = {
  /** Answers a request that came over HTTP. */
  handle: (call: Pick<Call, "headers" | "body">) => Promise<Reply>;
  /** Runs an action that no client asked for; @throws when SQS would reject it. */
  call: <Output>(action: string, input: unknown) => Promise<Output>;
  /** A queue with all that is in it, `undefined` when there is none; nothing is received by looking. */
  queue: (name: string) => Promise<StoredQueue | undefined>;
  /** Every queue, looked at in the same way. */
  queues: () => Promise<StoredQueue[]>;
  /** Makes the messages in a queue older. Returns how many there are. */
  age: (name: string, byMs: number) => number;
  /** Ends the long polls of a queue that wait: they answer with what there is. */
  endPolls: (name: string) => void;
  /** Ends every long poll. */
  close: () => Promise<void>;
};

/** What becomes of a message: `queue` is where it was. */
export type MessageEvent = {
  type: "message sent" | "message deleted" | "dead letter";
  queue: string;
  messageId: string;
  body: string;
};

const TYPES = {
  published: "message sent",
  consumed: "message deleted",
  dlq: "dead letter",
} as const;

export function createFauxqs(onMessage: (event: MessageEvent) => void = () => {}): Fauxqs {
  takeAnyCharacter();
  const sqsStore = new SqsStore();
  const addMessage = ({ status, queueName, messageId, body }: SqsSpyMessage): void =>
    onMessage({ type: TYPES[status], queue: queueName, messageId, body });
  sqsStore.spy = { addMessage } as unknown as NonNullable<SqsStore["spy"]>;
  // fauxqs makes the stores that it is not given.
  const stores = { sqsStore } as NonNullable<BuildAppOptions["stores"]>;
  const app = buildApp({ logger: false, defaultRegion: "us-east-1", stores });

  async function handle({ headers, body }: Pick<Call, "headers" | "body">): Promise<Reply> {
    const answer = await app.inject({ method: "POST", url: "/", headers, payload: body });
    const { "content-type": type, "x-amzn-query-error": error } = answer.headers;
    return {
      status: answer.statusCode,
      headers: {
        "content-type": String(type),
        ...(error !== undefined && { "x-amzn-query-error": String(error) }),
      },
      body: answer.payload,
    };
  }

  async function queue(name: string): Promise<StoredQueue | undefined> {
    const { statusCode, payload } = await app.inject(`/_fauxqs/queues/${name}`);
    return statusCode === 200 ? (JSON.parse(payload) as StoredQueue) : undefined;
  }

  return {
    handle,
    async call<Output>(action: string, input: unknown): Promise<Output> {
      const reply = await handle({
        headers: {
          "content-type": "application/x-amz-json-1.0",
          "x-amz-target": `AmazonSQS.${action}`,
        },
        body: Buffer.from(JSON.stringify(input)),
      });
      if (reply.status !== 200) throw new Error(`${action} failed: ${reply.body}`);
      return JSON.parse(reply.body) as Output;
    },
    queue,
    async queues() {
      const { payload } = await app.inject("/_fauxqs/queues");
      const names = (JSON.parse(payload) as { name: string }[]).map(({ name }) => name);
      return (await Promise.all(names.map(queue))).filter((found) => found !== undefined);
    },
    age(name, byMs) {
      const { messages } = sqsStore.inspectQueue(name) ?? {};
      if (!messages) return 0;
      const { ready, delayed, inflight } = messages;
      const all = [...ready, ...delayed, ...inflight.map(({ message }) => message)];
      for (const message of all) message.sentTimestamp -= byMs;
      return all.length;
    },
    endPolls: (name) => sqsStore.getQueueByName(name)?.cancelWaiters(),
    close: () => app.close(),
  };
}
