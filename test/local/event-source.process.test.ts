// The event source and the functions that it invokes, in processes of their own.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

import { SendMessageCommand } from "@aws-sdk/client-sqs";
import { expect, onTestFinished, test } from "vitest";

import type { QueueSourceSettings } from "../../local/event-source/queue-source.ts";
import { hostOnQueue } from "../../local/hosted-function.ts";
import type { StackEvent } from "../../local/stack-event.ts";
import { isListening, isRunning } from "../support/command.ts";
import { startedQueue } from "./aws-fixture.ts";

const BUNDLE = fileURLToPath(new URL("../fixtures/scripted-handler.cjs", import.meta.url));
const HANGING_PARENT = fileURLToPath(new URL("../fixtures/hanging-parent.ts", import.meta.url));

async function prepare(
  { endpoint, ...settings }: Partial<QueueSourceSettings> & { endpoint?: string } = {},
  visibilityTimeoutSeconds = 30,
) {
  const { queue, client, queueUrl, queueArn } = await startedQueue({
    visibilityTimeoutSeconds,
    maxReceiveCount: 1_000,
  });
  const events: StackEvent[] = [];
  return {
    queue,
    events,
    start: () => {
      const hosted = hostOnQueue(
        { bundle: BUNDLE, env: {}, timeoutMs: 10_000 },
        { queueUrl, queueArn, endpoint: endpoint ?? queue.url },
        {
          batchSize: 10,
          concurrency: 2,
          backoffMs: { base: 20, max: 100 },
          ...settings,
        },
        (event) => events.push(event),
      );
      onTestFinished(() => hosted.stop(0));
      return hosted;
    },
    send: async (
      script: object,
      MessageAttributes?: SendMessageCommand["input"]["MessageAttributes"],
    ): Promise<string> => {
      const MessageBody = JSON.stringify(script);
      const sent = await client.send(
        new SendMessageCommand({ QueueUrl: queueUrl, MessageBody, MessageAttributes }),
      );
      return sent.MessageId ?? "";
    },
    depth: () => queue.depth(queueUrl),
    of: <T extends StackEvent["type"]>(type: T) =>
      events.filter((event): event is Extract<StackEvent, { type: T }> => event.type === type),
  };
}

function until(condition: () => boolean | Promise<boolean>, timeout = 60_000): Promise<void> {
  return expect.poll(condition, { timeout, interval: 10 }).toBe(true);
}

test("the handler gets the event that Lambda builds, from a message that the queue sent", async () => {
  const { send, start, of } = await prepare();
  const id = await send(
    { do: "printEvent" },
    {
      tenant: { DataType: "String", StringValue: "north" },
      seal: { DataType: "Binary", BinaryValue: new Uint8Array([1, 2, 255]) },
    },
  );

  start();
  await until(() => of("deleted").length === 1);

  expect(JSON.parse(of("log")[0]?.line ?? "")).toEqual({
    Records: [
      {
        messageId: id,
        receiptHandle: expect.stringMatching(/.+/) as string,
        body: '{"do":"printEvent"}',
        attributes: {
          ApproximateReceiveCount: "1",
          ApproximateFirstReceiveTimestamp: expect.stringMatching(/^\d{13}$/) as string,
          SentTimestamp: expect.stringMatching(/^\d{13}$/) as string,
          SenderId: expect.stringMatching(/.+/) as string,
        },
        messageAttributes: {
          tenant: {
            stringValue: "north",
            stringListValues: [],
            binaryListValues: [],
            dataType: "String",
          },
          seal: {
            binaryValue: "AQL/",
            stringListValues: [],
            binaryListValues: [],
            dataType: "Binary",
          },
        },
        md5OfMessageAttributes: expect.stringMatching(/^[0-9a-f]{32}$/) as string,
        md5OfBody: "5e08552c0044b537521f08f3efbce206",
        eventSource: "aws:sqs",
        eventSourceARN: "arn:aws:sqs:us-east-1:000000000000:payments",
        awsRegion: "us-east-1",
      },
    ],
  });
});

test("exactly the listed message stays in the queue, and the poller does not slow down", async () => {
  const { send, start, of, depth } = await prepare();
  const good = [await send({ do: "failOthers" }), await send({ do: "good" })];
  const bad = await send({ do: "bad" });

  start();
  await until(() => of("deleted").length === 1);

  expect(of("deleted")[0]?.messageIds).toEqual(good);
  expect(of("responded")[0]?.failures).toEqual([bad]);
  expect(await depth()).toMatchObject({ visible: 0, inFlight: 1 });
  expect(of("throttled")).toEqual([]);
});

test("an invalid response deletes nothing and slows the poller down", async () => {
  const { send, start, of, depth } = await prepare();
  await send({ do: "respond", value: { batchItemFailures: [{ itemIdentifier: "" }] } });
  await send({ do: "good" });

  start();
  await until(() => of("throttled").length === 1);

  expect(of("failed")[0]).toMatchObject({ reason: "invalid-response" });
  expect(of("deleted")).toEqual([]);
  expect(await depth()).toMatchObject({ visible: 0, inFlight: 2 });
});

test("a batch whose handler throws comes again when its visibility ends", async () => {
  const { send, start, of } = await prepare({}, 1);
  const id = await send({ do: "throw" });
  const received = () => of("invoked").flatMap((event) => event.messages);

  start();
  // Where an environment takes longer than a second to start, the message comes again before it throws.
  await until(() => of("failed").length > 0 && received().length > 1);

  expect(of("failed")[0]).toMatchObject({ reason: "error", message: "no such card" });
  expect(received().slice(0, 2)).toMatchObject([
    { messageId: id, receiveCount: 1 },
    { messageId: id, receiveCount: 2 },
  ]);
});

test("a warm execution environment is used again, and after a crash the next start is cold", async () => {
  const { send, start, of } = await prepare({ batchSize: 1 });
  start();

  await send({ do: "respond" });
  await until(() => of("deleted").length === 1);
  await send({ do: "exit", code: 1 });
  await until(() => of("failed").length === 1);
  await send({ do: "respond" });
  await until(() => of("deleted").length === 2);

  const [first, second, third] = of("invoked");
  expect([first?.cold, second?.cold, third?.cold]).toEqual([true, false, true]);
  expect(second?.pid).toBe(first?.pid);
  expect(third?.pid).not.toBe(first?.pid);
});

test("never more than `concurrency` invocations are in flight, and that many are", async () => {
  const { send, start, events, of } = await prepare({ batchSize: 1, concurrency: 3 });
  for (let sent = 0; sent < 9; sent++) await send({ do: "wait", ms: 50 });

  start();
  await until(() => of("deleted").length === 9);

  let inFlight = 0;
  let most = 0;
  for (const event of events) {
    if (event.type === "invoked") inFlight += 1;
    if (event.type === "responded") inFlight -= 1;
    most = Math.max(most, inFlight);
  }
  expect(most).toBe(3);
});

test("a batch is no larger than the batch size", async () => {
  const { send, start, of } = await prepare({ batchSize: 4 });
  for (let sent = 0; sent < 9; sent++) await send({ do: "respond" });

  start();
  await until(() => of("deleted").flatMap((event) => event.messageIds).length === 9);

  expect(of("invoked").map((event) => event.messages.length)).toEqual([4, 4, 1]);
});

test("kill with a message id kills the execution environment that handles it and no other", async () => {
  const { send, start, of } = await prepare({ batchSize: 1 });
  const hosted = start();
  const spared = await send({ do: "wait", ms: 500, id: "spared" });
  const victim = await send({ do: "hang", id: "victim" });
  await until(() => of("invoked").length === 2);

  const pids = hosted.kill('"victim"');
  await until(() => of("failed").length === 1 && of("deleted").length === 1);

  expect(pids).toEqual([
    of("invoked").find((event) => event.messages[0]?.messageId === victim)?.pid,
  ]);
  expect(of("failed")[0]).toMatchObject({
    reason: "crash",
    message: "Runtime exited with error: signal: SIGKILL",
    messages: [{ messageId: victim }],
  });
  expect(of("deleted")[0]?.messageIds).toEqual([spared]);
});

test("kill without a message id kills the idle execution environments too", async () => {
  const { send, start, of } = await prepare();
  const hosted = start();
  await send({ do: "respond" });
  await until(() => of("deleted").length === 1);

  const pids = hosted.kill();
  await until(() => pids.every((pid) => !isRunning(pid)));
  await send({ do: "respond" });
  await until(() => of("deleted").length === 2);

  expect(pids).toEqual([of("invoked")[0]?.pid]);
  expect(of("invoked")[1]?.cold).toBe(true);
  expect(hosted.kill()).toEqual([of("invoked")[1]?.pid]);
});

test("Ctrl-C, which a terminal sends to every process, does not end an invocation", async () => {
  const { send, start, of } = await prepare();
  const hosted = start();
  await send({ do: "wait", ms: 200 });
  await until(() => of("log").some(({ line }) => line === "waiting"));

  hosted.kill(undefined, "SIGINT");
  await until(() => of("deleted").length + of("failed").length === 1);

  expect(of("failed")).toEqual([]);
});

test("a message whose deletion failed comes again", async () => {
  const { queue, send, start, of } = await prepare({}, 4);
  queue.faults.add(
    { operation: "DeleteMessageBatch" },
    { kind: "refuse", status: 400, code: "UnsupportedOperation", message: "" },
  );
  const id = await send({ do: "respond" });

  start();
  await until(() => of("deleted").length === 1);

  expect(of("not deleted")).toHaveLength(1);
  expect(of("invoked").flatMap((event) => event.messages)).toMatchObject([
    { messageId: id, receiveCount: 1 },
    { messageId: id, receiveCount: 2 },
  ]);
});

test("a queue that cannot be reached is reported, and does not keep stop waiting", async () => {
  const { start, of } = await prepare({ endpoint: "http://127.0.0.1:1" });
  const hosted = start();

  await until(() => of("not received").length > 0);
  await hosted.stop();

  expect(of("not received")[0]?.message).toContain("ECONNREFUSED");
});

test.each(["idle", "stop"] as const)(
  "%s waits for the invocation in flight and its deletes, and stop leaves no process",
  async (method) => {
    const { send, start, of } = await prepare();
    const hosted = start();
    await send({ do: "wait", ms: 200 });
    await until(() => of("invoked").length === 1);

    await hosted[method]();

    expect(of("deleted")).toHaveLength(1);
    expect(of("invoked").some((event) => isRunning(event.pid))).toBe(method === "idle");
  },
);

test("stop kills an invocation that outlasts the grace", async () => {
  const { send, start, of, depth } = await prepare();
  const hosted = start();
  await send({ do: "hang" });
  await until(() => of("invoked").length === 1);

  await hosted.stop(50);

  expect(of("failed")[0]).toMatchObject({ reason: "crash" });
  expect(of("invoked").some((event) => isRunning(event.pid))).toBe(false);
  expect(await depth()).toMatchObject({ visible: 0, inFlight: 1 });
});

test("an execution environment dies with its parent, even when the parent is killed", async () => {
  const parent = spawn(process.execPath, [HANGING_PARENT, BUNDLE], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  onTestFinished(() => void parent.kill("SIGKILL"));
  const [port] = (await once(createInterface(parent.stdout), "line")) as [string];
  const couldConnect = await isListening(`http://127.0.0.1:${port}`);

  parent.kill("SIGKILL");
  await until(async () => !(await isListening(`http://127.0.0.1:${port}`)));

  expect(couldConnect).toBe(true);
});
