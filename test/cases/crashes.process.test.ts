// The built bundle in its own process, killed with SIGKILL at the worst moments.

import { SendMessageCommand, SQSClient } from "@aws-sdk/client-sqs";
import { test } from "vitest";
import type { TestContext } from "vitest";

import { paymentWorker } from "../../local/payment-worker.ts";
import type { StackEvent } from "../../local/stack-event.ts";
import { startStack } from "../../local/stack.ts";
import type { Fault } from "../../local/stripe/faults.ts";
import { payment } from "../support/worker.ts";

async function prepare({ onTestFinished }: TestContext) {
  const events: StackEvent[] = [];
  const stack = await startStack({
    // Short, since the tests wait for the lease to expire; calls with time to spare.
    functions: [
      paymentWorker({
        functionTimeoutMs: 8_000,
        visibilityTimeoutSeconds: 9,
        env: { CALL_TIMEOUT_SECONDS: "2", STRIPE_TIMEOUT_SECONDS: "2" },
      }),
    ],
  });
  stack.feed.subscribe((event) => events.push(event));
  onTestFinished(() => stack.stop());
  const client = new SQSClient({
    endpoint: stack.queue.url,
    region: "us-east-1",
    credentials: { accessKeyId: "local", secretAccessKey: "local" },
  });
  const send = async (id: string) => {
    const body = payment({ id, createdAt: new Date().toISOString() });
    const MessageBody = JSON.stringify(body);
    await client.send(new SendMessageCommand({ QueueUrl: stack.queues.queueUrl, MessageBody }));
  };
  const kill = (): Fault => ({
    kind: "hook",
    at: "arriving",
    run: () => void stack.worker.kill(),
  });
  return { stack, events, send, kill };
}

test.concurrent("a worker that died after its claim loses no payment: the next one takes over and charges once", async (context) => {
  const { expect } = context;
  const { stack, events, send, kill } = await prepare(context);
  // The server drops the request of the dead, as its socket would.
  const died = stack.stripe.faults.add({ method: "POST" }, kill());
  const lost = stack.stripe.faults.add({ method: "POST" }, { kind: "dropBefore" });

  await send("order-1001");
  await stack.drained(25_000);

  expect([died.happened(), lost.happened()]).toEqual([1, 1]);
  expect(events.filter(({ type }) => type === "failed")).toMatchObject([{ reason: "crash" }]);
  expect(stack.stripe.ledger.countsFor("order-1001")).toMatchObject({ executed: 1, charges: 1 });
  expect(await stack.table.item(stack.tableName, "order-1001")).toMatchObject({
    status: "COMPLETED",
    attempt: 2,
    outcome: { result: "succeeded" },
  });
});

test.concurrent("a worker that died after the charge and before the record charges once", async (context) => {
  const { expect } = context;
  const { stack, send, kill } = await prepare(context);
  const died = stack.stripe.faults.add({ method: "POST" }, { ...kill(), at: "applied" } as Fault);

  await send("order-1001");
  await stack.drained(25_000);

  expect(died.happened()).toBe(1);
  expect(stack.stripe.ledger.countsFor("order-1001")).toEqual({
    requests: 2,
    executed: 1,
    replayed: 1,
    charges: 1,
  });
  expect(await stack.table.item(stack.tableName, "order-1001")).toMatchObject({
    status: "COMPLETED",
    attempt: 2,
  });
});
