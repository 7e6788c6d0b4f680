import { once } from "node:events";
import { connect } from "node:net";
import { fileURLToPath } from "node:url";

import { SendMessageCommand, SQSClient } from "@aws-sdk/client-sqs";
import { expect, onTestFinished, test } from "vitest";

import { violations } from "../../lib/timing/payments.ts";
import { TIMING_VARIABLES } from "../../lib/timing/variables.ts";
import { LOCAL_WORKER, paymentWorker } from "../../local/payment-worker.ts";
import { startStack } from "../../local/stack.ts";
import type { Stack, StackOptions } from "../../local/stack.ts";
import { TIMINGS } from "../support/timings.ts";

const SCRIPTED = fileURLToPath(new URL("../fixtures/scripted-handler.cjs", import.meta.url));

async function prepare(options: StackOptions = {}) {
  const stack = await startStack({ functions: [paymentWorker({}, SCRIPTED)], ...options });
  onTestFinished(() => stack.stop());
  return stack;
}

async function send({ queue, queues }: Stack, script: object): Promise<void> {
  const client = new SQSClient({
    endpoint: queue.url,
    region: "us-east-1",
    credentials: { accessKeyId: "local", secretAccessKey: "local" },
  });
  await client.send(
    new SendMessageCommand({ QueueUrl: queues.queueUrl, MessageBody: JSON.stringify(script) }),
  );
}

async function isListening(url: string): Promise<boolean> {
  const { port, hostname } = new URL(url);
  const socket = connect(Number(port), hostname);
  try {
    await once(socket, "connect");
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}

test("the worker's environment points it at this stack and nowhere else", async () => {
  const { worker, table, queue, queues, stripe } = await prepare();

  expect(worker.env).toMatchObject({
    AWS_ENDPOINT_URL_DYNAMODB: table.url,
    AWS_ENDPOINT_URL_SQS: queue.url,
    RECORDS_TABLE: "payment-records",
    QUEUE_URL: queues.queueUrl,
    STRIPE_API_BASE: stripe.url,
    STRIPE_API_KEY: "sk_test_local",
  });
  for (const url of [table.url, queue.url, stripe.url, queues.queueUrl]) {
    expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+/);
  }
});

test("a variable that is given replaces one, and keeps the others", async () => {
  const given = paymentWorker({ env: { STRIPE_TIMEOUT_SECONDS: "0.4" } }, SCRIPTED);

  const { worker } = await prepare({ functions: [given] });

  expect(worker.env).toMatchObject({ STRIPE_TIMEOUT_SECONDS: "0.4", CALL_TIMEOUT_SECONDS: "1" });
});

test("after stop nothing listens any more", async () => {
  const stack = await prepare();
  const urls = [stack.table.url, stack.queue.url, stack.stripe.url];
  const before = await Promise.all(urls.map(isListening));

  await stack.stop();

  expect(before).toEqual([true, true, true]);
  expect(await Promise.all(urls.map(isListening))).toEqual([false, false, false]);
});

test("a taken port is an error, and what had started by then is stopped", async () => {
  const { queue } = await prepare();
  const other = await prepare();
  const stripePort = other.stripe.port;
  await other.stop();

  const starting = startStack({
    functions: [paymentWorker({}, SCRIPTED)],
    ports: { stripe: stripePort, queue: queue.port },
  });

  await expect(starting).rejects.toThrow("EADDRINUSE");
  expect(await isListening(`http://127.0.0.1:${stripePort}`)).toBe(false);
});

test("drained resolves when the queue is empty and the function answered", async () => {
  const stack = await prepare();
  await send(stack, { do: "wait", ms: 100 });

  await stack.drained(10_000);

  const types: string[] = [];
  stack.feed.subscribe(({ type }) => types.push(type));
  expect(types.filter((type) => type !== "log")).toEqual([
    "environment started",
    "invoked",
    "responded",
    "deleted",
  ]);
});

test("drained says what the queue still holds when it takes too long", async () => {
  const stack = await prepare();
  await send(stack, { do: "throw" });

  await expect(stack.drained(100)).rejects.toThrow("After 0.1 s the queue still holds messages: ");
});

test("without a bundle the error says how to make one", async () => {
  await expect(startStack({ functions: [paymentWorker({}, "/nowhere/index.js")] })).rejects.toThrow(
    'There is no bundle at /nowhere/index.js: run "npm run build" first.',
  );
});

test("the local timings keep every rule that a deployment has to keep", () => {
  const { env } = LOCAL_WORKER;
  const worker = Object.entries(TIMING_VARIABLES)
    .filter(([, variable]) => env[variable] !== undefined)
    .map(([name, variable]) => [name, Number(env[variable]) * 1_000]);

  expect(
    violations({
      ...TIMINGS,
      ...(Object.fromEntries(worker) as object),
      functionTimeoutMs: LOCAL_WORKER.functionTimeoutMs,
      visibilityTimeoutMs: LOCAL_WORKER.visibilityTimeoutSeconds * 1_000,
      batchWindowMs: LOCAL_WORKER.batchWindowSeconds * 1_000,
      batchSize: LOCAL_WORKER.batchSize,
      eventSourceConcurrency: LOCAL_WORKER.concurrency,
      maxReceiveCount: LOCAL_WORKER.maxReceiveCount,
      // Locally an outage is over in seconds.
      outageMs: 5_000,
    }),
  ).toEqual([]);
});
