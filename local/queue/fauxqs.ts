/** fauxqs in this process, without a socket of its own. */
import { buildApp } from "fauxqs";
import type { Call, Reply } from "../aws-json-server.ts";

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
  /** Runs an action that no client asked for; @throws when SQS would refuse it. */
  call: <Output>(action: string, input: unknown) => Promise<Output>;
  /** Every queue with all that is in it; nothing is received by looking. */
  queues: () => Promise<StoredQueue[]>;
  /** Ends the long polls. */
  close: () => Promise<void>;
};

export function createFauxqs(): Fauxqs {
  const app = buildApp({ logger: false, defaultRegion: "us-east-1" });

  async function handle({ headers, body }: Pick<Call, "headers" | "body">): Promise<Reply> {
    const {
      statusCode,
      headers: answered,
      payload,
    } = await app.inject({
      method: "POST",
      url: "/",
      headers,
      payload: body,
    });
    return {
      status: statusCode,
      headers: { "content-type": String(answered["content-type"]) },
      body: payload,
    };
  }

  async function look<Found>(path: string): Promise<Found> {
    const { payload } = await app.inject({ method: "GET", url: `/_fauxqs/queues${path}` });
    return JSON.parse(payload) as Found;
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
      if (reply.status !== 200) throw new Error(`${action} was refused: ${reply.body}`);
      return JSON.parse(reply.body) as Output;
    },
    async queues() {
      const listed = await look<{ name: string }[]>("");
      return Promise.all(listed.map(({ name }) => look<StoredQueue>(`/${name}`)));
    },
    close: () => app.close(),
  };
}
