import { fileURLToPath } from "node:url";
import {
  CreateQueueCommand,
  GetQueueAttributesCommand,
  SendMessageCommand,
  SQSClient,
} from "@aws-sdk/client-sqs";
import { buildApp } from "fauxqs";
import { expect, onTestFinished, test } from "vitest";
import type { EventSourceEvent } from "../../local/event-source/events.ts";
import { startEventSource, type EventSourceOptions } from "../../local/event-source/server.ts";

const BUNDLE = fileURLToPath(new URL("../fixtures/scripted-handler.cjs", import.meta.url));

async function prepare(options: Partial<EventSourceOptions> = {}, visibilitySeconds = 30) {
  const app = buildApp({ logger: false });
  const endpoint = await app.listen({ port: 0, host: "127.0.0.1" });
  const client = new SQSClient({
    endpoint,
    region: "us-east-1",
    credentials: { accessKeyId: "local", secretAccessKey: "local" },
  });
  const { QueueUrl: queueUrl = "" } = await client.send(
    new CreateQueueCommand({
      QueueName: "payments",
      Attributes: { VisibilityTimeout: String(visibilitySeconds) },
    }),
  );
  const events: EventSourceEvent[] = [];
  const lines: string[] = [];
  const start = () =>
    startEventSource({
      queueUrl,
      queueArn: "arn:aws:sqs:us-east-1:000000000000:payments",
      endpoint,
      bundle: BUNDLE,
      env: {},
      functionTimeoutMs: 10_000,
      batchSize: 10,
      batchWindowSeconds: 0,
      concurrency: 2,
      backOffMs: { base: 20, max: 100 },
      onEvent: (event) => events.push(event),
      onLog: ({ line }) => lines.push(line),
      ...options,
    });

  const stops: (() => Promise<void>)[] = [() => app.close()];
  onTestFinished(async () => {
    for (const stop of stops.toReversed()) await stop();
  });

  return {
    events,
    lines,
    start: () => {
      const eventSource = start();
      stops.push(() => eventSource.stop(0));
      return eventSource;
    },
    send: async (script: object, attributes?: Record<string, string>): Promise<string> => {
      const sent = await client.send(
        new SendMessageCommand({
          QueueUrl: queueUrl,
          MessageBody: JSON.stringify(script),
          MessageAttributes: Object.fromEntries(
            Object.entries(attributes ?? {}).map(([name, value]) => [
              name,
              { DataType: "String", StringValue: value },
            ]),
          ),
        }),
      );
      return sent.MessageId ?? "";
    },
    depth: async (): Promise<{ visible: number; inFlight: number }> => {
      const { Attributes } = await client.send(
        new GetQueueAttributesCommand({ QueueUrl: queueUrl, AttributeNames: ["All"] }),
      );
      return {
        visible: Number(Attributes?.["ApproximateNumberOfMessages"]),
        inFlight: Number(Attributes?.["ApproximateNumberOfMessagesNotVisible"]),
      };
    },
    of: <T extends EventSourceEvent["type"]>(type: T) =>
      events.filter(
        (event): event is Extract<EventSourceEvent, { type: T }> => event.type === type,
      ),
  };
}

function until(condition: () => boolean | Promise<boolean>, timeout = 10_000): Promise<void> {
  return expect.poll(condition, { timeout, interval: 10 }).toBe(true);
}

test("the handler gets the event that Lambda builds from the message", async () => {
  const { send, start, of, lines } = await prepare();
  const id = await send({ do: "see" }, { traceparent: "00-abc" });
  start();

  await until(() => of("deleted").length === 1);

  expect(lines).toEqual([]);
  expect(of("received")).toEqual([
    { type: "received", messages: [{ messageId: id, body: '{"do":"see"}', receiveCount: 1 }] },
  ]);
});
