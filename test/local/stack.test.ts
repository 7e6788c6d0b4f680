import { fileURLToPath } from "node:url";

import { ChangeMessageVisibilityCommand, SendMessageCommand } from "@aws-sdk/client-sqs";
import { expect, onTestFinished, test } from "vitest";

import { violations } from "../../lib/timing/payments.ts";
import { TIMING_VARIABLES } from "../../lib/timing/variables.ts";
import { handle } from "../../local/feed.ts";
import { LOCAL_WORKER, paymentWorker } from "../../local/payment-worker.ts";
import type { StackEvent } from "../../local/stack-event.ts";
import { startStack } from "../../local/stack.ts";
import type { Stack, StackOptions } from "../../local/stack.ts";
import { isListening } from "../support/command.ts";
import { TIMINGS } from "../support/timings.ts";
import { queueClient } from "./aws-fixture.ts";

const SCRIPTED = fileURLToPath(new URL("../fixtures/scripted-handler.cjs", import.meta.url));

async function prepare(options: StackOptions = {}) {
  const stack = await startStack({ functions: [paymentWorker({}, SCRIPTED)], ...options });
  onTestFinished(() => stack.stop());
  return stack;
}

const send = async ({ queue, queues }: Stack, script: object, QueueUrl = queues.queueUrl) => {
  const MessageBody = JSON.stringify(script);
  await queueClient(queue.url).send(new SendMessageCommand({ QueueUrl, MessageBody }));
};

test("the worker's environment points it at this stack, with the variables that are given", async () => {
  const given = paymentWorker({ env: { STRIPE_TIMEOUT_SECONDS: "0.4" } }, SCRIPTED);
  const { worker, table, queue, queues, stripe } = await prepare({ functions: [given] });

  expect(worker.env).toMatchObject({
    STRIPE_TIMEOUT_SECONDS: "0.4",
    CALL_TIMEOUT_SECONDS: "1",
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
    "message sent",
    "environment started",
    "invoked",
    "invocation ended",
    "responded",
    "message deleted",
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
      batchSize: LOCAL_WORKER.batchSize,
      eventSourceConcurrency: LOCAL_WORKER.concurrency,
      maxReceiveCount: LOCAL_WORKER.maxReceiveCount,
      // Locally an outage is over in seconds.
      outageMs: 5_000,
    }),
  ).toEqual([]);
});

test("the feed carries what the servers saw of a payment", async () => {
  const stack = await startStack();
  onTestFinished(() => stack.stop());
  const body = {
    id: "order-1001",
    createdAt: new Date().toISOString(),
    amount: 1200,
    currency: "eur",
    customer: "cus_ada",
    paymentMethod: "pm_card_visa",
  };

  await send(stack, body);
  await stack.drained(20_000);

  const seen: object[] = [];
  stack.feed.subscribe(
    handle<StackEvent>({
      "message sent": ({ queue, body }) => seen.push({ queue, id: JSON.parse(body).id }),
      "table request": ({ operation, messageId, result }) =>
        seen.push({ operation, messageId, result }),
      "Stripe request": ({ method, idempotencyKey, result, replayed }) =>
        seen.push({ method, idempotencyKey, result, replayed }),
      "record changed": ({ before, after }) =>
        seen.push({ from: before?.["status"], to: after?.["status"] }),
      charged: ({ messageId, amount }) => seen.push({ messageId, amount }),
      "message deleted": ({ queue }) => seen.push({ queue }),
    }),
  );
  expect(seen).toEqual([
    { queue: "payments", id: "order-1001" },
    { from: undefined, to: "IN_PROGRESS" },
    { operation: "PutItem", messageId: "order-1001", result: "ok" },
    { messageId: "order-1001", amount: 1200 },
    { method: "POST", idempotencyKey: "order-1001", result: "200", replayed: false },
    { from: "IN_PROGRESS", to: "COMPLETED" },
    { operation: "UpdateItem", messageId: "order-1001", result: "ok" },
    { queue: "payments" },
  ]);
});

test("the feed names a message whose visibility was changed, and one that became a dead letter", async () => {
  const stack = await prepare({
    functions: [paymentWorker({ maxReceiveCount: 1, batchSize: 1, concurrency: 1 }, SCRIPTED)],
  });
  const events: StackEvent[] = [];
  stack.feed.subscribe((event) => events.push(event));
  await send(stack, { do: "wait", ms: 60_000 });
  const invoked = () => events.find((event) => event.type === "invoked");
  await expect.poll(invoked, { timeout: 20_000 }).toBeDefined();

  await queueClient(stack.queue.url).send(
    new ChangeMessageVisibilityCommand({
      QueueUrl: stack.queues.queueUrl,
      ReceiptHandle: invoked()?.messages[0]?.receiptHandle,
      VisibilityTimeout: 0,
    }),
  );
  stack.worker.kill();
  const dead = () => events.find((event) => event.type === "dead letter");
  await expect.poll(dead, { timeout: 20_000 }).toBeDefined();

  const messageId = invoked()?.messages[0]?.messageId;
  expect(dead()).toMatchObject({ queue: "payments", messageId });
  expect(events.find((event) => event.type === "visibility changed")).toMatchObject({
    queue: "payments",
    messageId,
    seconds: 0,
  });
  expect(events.find((event) => event.type === "environment ended")).toMatchObject({
    function: "payment-worker",
    how: "exited with error: signal: SIGKILL",
    wasBusy: true,
  });
});

test("a stack runs any function of its list, each with its own trigger, output and kill", async () => {
  const worker = paymentWorker({}, SCRIPTED);
  const stack = await prepare({
    functions: [
      worker,
      {
        ...worker,
        name: "second-queue",
        env: { COLOR: "green" },
        trigger: { ...worker.trigger, queue: "other" },
      },
      {
        ...worker,
        name: "record-watcher",
        trigger: { type: "stream", batchSize: 10, retryAttempts: 1, retryPauseMs: 0 },
      },
    ],
  });
  const lines: Record<string, string[]> = {};
  stack.feed.subscribe(
    handle<StackEvent>({ log: (log) => void (lines[log.function] ??= []).push(log.line) }),
  );
  const [, second, watcher] = stack.functions;

  await send(stack, { do: "printEvent" });
  await send(stack, { do: "printEvent", to: "second" }, second?.env["QUEUE_URL"]);
  stack.table.put(stack.tableName, { messageId: "a" });
  await stack.drained(20_000);

  const bodies = (name: string) =>
    (lines[name] ?? []).flatMap((line) =>
      (JSON.parse(line) as { Records: { body?: string; eventName?: string }[] }).Records.map(
        ({ body, eventName }) => body ?? eventName,
      ),
    );
  expect(bodies("payment-worker")).toEqual(['{"do":"printEvent"}']);
  expect(bodies("second-queue")).toEqual(['{"do":"printEvent","to":"second"}']);
  expect(bodies("record-watcher")).toEqual(["INSERT"]);
  expect(second?.env).toMatchObject({ COLOR: "green", AWS_LAMBDA_FUNCTION_NAME: "second-queue" });
  expect(watcher?.env).not.toHaveProperty("QUEUE_URL");
  expect(watcher?.kill()).toHaveLength(1);
  expect(second?.kill()).toHaveLength(1);
});

test("a browser at each server reads what it is and what to call, and an SDK's request is no browser's", async () => {
  const { table, queue, stripe } = await prepare();
  const read = async (url: string, accept: string) => {
    const response = await fetch(`${url}/`, { headers: { accept } });
    return `${response.status} ${(await response.text()).slice(0, 29)}`;
  };

  const browser = await Promise.all(
    [table, queue, stripe].map(({ url }) => read(url, "text/html,*/*;q=0.8")),
  );

  expect(browser).toEqual([
    "200 DynamoDB on this machine. Lis",
    "200 SQS on this machine. List the",
    "200 Stripe on this machine, in te",
  ]);
  expect(await read(stripe.url, "*/*")).toMatch(/^401 /);
});
