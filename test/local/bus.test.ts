// What the local bus does beyond the scenarios of test/conformance.
import { EventBridgeClient, PutEventsCommand } from "@aws-sdk/client-eventbridge";
import { expect, onTestFinished, test } from "vitest";

import { startBus } from "../../local/bus/server.ts";

/** A bus `payments` with a queue for succeeded payments, and a client that tries once. */
async function started(send?: (queueUrl: string, body: string) => Promise<void>) {
  const sent: { queue: string; body: Record<string, unknown> }[] = [];
  const server = await startBus({
    now: () => Date.parse("2026-11-30T12:00:00.500Z"),
    send:
      send ??
      (async (queue, body) =>
        void sent.push({ queue, body: JSON.parse(body) as (typeof sent)[0]["body"] })),
  });
  onTestFinished(() => server.stop());
  server.bus.createBus("payments");
  server.bus.addQueue(
    "paid",
    "payments",
    { "detail-type": ["payment.succeeded"] },
    { queueUrl: "orders", deadLetterQueueUrl: "orders-target-dlq" },
  );
  const client = new EventBridgeClient({
    endpoint: server.url,
    region: "us-east-1",
    credentials: { accessKeyId: "local", secretAccessKey: "local" },
    maxAttempts: 1,
  });
  onTestFinished(() => client.destroy());
  const put = (...Entries: object[]) => client.send(new PutEventsCommand({ Entries }));
  return { server, sent, put };
}

const ENTRY = {
  EventBusName: "payments",
  Source: "payment-worker",
  DetailType: "payment.succeeded",
  Detail: '{"id":"order-1:1","subject":"order-1"}',
};

test("an event has the time of the clock, and each that was taken is among the published", async () => {
  const { server, sent, put } = await started();
  await put(ENTRY, { ...ENTRY, DetailType: "payment.failed" });
  await server.bus.idle();
  expect(sent).toMatchObject([{ queue: "orders", body: { time: "2026-11-30T12:00:00Z" } }]);
  expect(server.bus.published()).toHaveLength(2);
});

test("a fault fails one entry of a request by its event's id, once", async () => {
  const { server, put } = await started();
  server.faults.add({}, { kind: "failEntry", id: "order-1:1", code: "ThrottlingException" });
  const first = await put({ ...ENTRY, Detail: '{"id":"x"}' }, ENTRY);
  expect(first.Entries?.map(({ ErrorCode }) => ErrorCode)).toEqual([
    undefined,
    "ThrottlingException",
  ]);
  expect((await put(ENTRY)).FailedEntryCount).toBe(0);
});

test("what the queue rejects goes to the target's dead-letter queue", async () => {
  const rejected: string[] = [];
  const { server, put } = await started(async (queue) => {
    rejected.push(queue);
    if (queue === "orders") throw new Error("AccessDenied");
  });
  await put(ENTRY);
  await server.bus.idle();
  expect(rejected).toEqual(["orders", "orders", "orders", "orders-target-dlq"]);
});

test("an event for a bus that is not there is taken, and reaches nobody", async () => {
  const { server, sent, put } = await started();
  expect((await put({ ...ENTRY, EventBusName: "nowhere" })).FailedEntryCount).toBe(0);
  await server.bus.idle();
  expect(sent).toEqual([]);
});
