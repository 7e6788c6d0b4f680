// Failures that people met with batches, redrives and partial responses.

import { StartMessageMoveTaskCommand } from "@aws-sdk/client-sqs";
import { expect, test, vi } from "vitest";

import { payment, startWorker } from "../support/worker.ts";

test("one bad record among ten is the only one that comes back", async () => {
  const worker = await startWorker();
  const bodies = Array.from({ length: 10 }, (_, i) =>
    payment(i === 4 ? { id: "bad-one", amount: -1 } : { id: `order-${i}` }),
  );

  const batch = await worker.deliver(...bodies);

  expect(batch.failed).toEqual([JSON.stringify(payment({ id: "bad-one", amount: -1 }))]);
  expect(batch.acknowledged).toHaveLength(9);
  expect(worker.stripe.ledger.charges()).toHaveLength(9);
});

test("no failure of any kind is reported as an empty string or as a message of another batch", async () => {
  const worker = await startWorker();
  worker.stripe.faults.add({ messageId: "down" }, { kind: "refuse", error: "unavailable" });
  await worker.deliver(payment({ id: "known", amount: 500 }));

  const batch = await worker.deliver(
    payment({ id: "fine" }),
    payment({ id: "down" }),
    payment({ id: "known", amount: 700 }),
    payment({ id: "wrong", customer: "cus_missing" }),
    payment({ id: "" }),
    "not JSON",
    " ",
  );

  expect(batch.error).toBeUndefined(); // or the poller would slow down
  expect(batch.itemIdentifiers).toHaveLength(6);
  for (const identifier of batch.itemIdentifiers) expect(identifier).toMatch(/^[0-9a-f-]{36}$/);
  expect(batch.acknowledged).toEqual([JSON.stringify(payment({ id: "fine" }))]);
});

test("the same message twice in one batch is charged once and acknowledged twice", async () => {
  const worker = await startWorker();

  const batch = await worker.deliver(payment(), payment());

  expect(batch.acknowledged).toHaveLength(2);
  expect(batch.lines).toMatchObject([
    { decision: "completed", Succeeded: 1 },
    { decision: "duplicate", outcome: "succeeded", Duplicate: 1 },
  ]);
  expect(batch.lines[1]).not.toHaveProperty("Succeeded");
  expect(worker.stripe.ledger.totals()).toMatchObject({ requests: 1, charges: 1 });
  expect(worker.table.counts()).toEqual({ PutItem: 1, UpdateItem: 1 });
});

test("one id with two amounts in one batch charges the first and conflicts on the second", async () => {
  const worker = await startWorker();

  const batch = await worker.deliver(payment({ amount: 500 }), payment({ amount: 700 }));

  expect(batch.lines.map((line) => line["decision"])).toEqual(["completed", "conflict"]);
  expect(worker.stripe.ledger.charges()).toMatchObject([{ amount: 500 }]);
});

test("a redrive, under a new SQS MessageId, does not charge again", async () => {
  const worker = await startWorker({ maxReceiveCount: 1 });
  await worker.send(payment());
  const charged = await worker.receive({ loseAcknowledgement: true });
  await worker.redeliver(); // this receive moves it to the dead-letter queue
  const deadLetters = await worker.queue.messages(worker.dlqUrl);

  await worker.client.send(new StartMessageMoveTaskCommand({ SourceArn: worker.dlqArn }));
  await vi.waitUntil(async () => (await worker.queue.depth(worker.queueUrl)).visible === 1);
  const redriven = await worker.receive();

  expect(deadLetters).toHaveLength(1);
  expect(redriven.lines[0]).toMatchObject({ decision: "duplicate", messageId: "order-1001" });
  expect(redriven.lines[0]?.["sqsMessageId"]).not.toBe(charged.lines[0]?.["sqsMessageId"]);
  expect(redriven.acknowledged).toHaveLength(1);
  expect(worker.stripe.ledger.charges()).toHaveLength(1);
});

test("when Stripe is down for a whole batch the handler throws, so that the poller slows down", async () => {
  const worker = await startWorker();
  const outage = worker.stripe.faults.outage("unavailable");

  const down = await worker.deliver(payment({ id: "a" }), payment({ id: "b" }));
  outage.remove();
  const up = await worker.redeliver();

  expect(down.error).toMatchObject({ name: "Unavailable" });
  expect(down.lines.map((line) => line["kind"])).toEqual([
    "stripe_unavailable",
    "stripe_unavailable",
  ]);
  expect(worker.queue.counts()["ChangeMessageVisibilityBatch"]).toBe(1);
  expect(up.acknowledged).toHaveLength(2);
  expect(worker.stripe.ledger.charges()).toHaveLength(2);
});

test("a table that does not answer is transient, and nothing reaches Stripe", async () => {
  const worker = await startWorker({ timings: { callTimeoutMs: 300 } });
  worker.table.faults.add({ times: Infinity }, { kind: "delayBefore", ms: 2_000 });

  const down = await worker.deliver(payment());

  expect(down.error).toMatchObject({ name: "Unavailable" });
  expect(down.lines[0]).toMatchObject({ decision: "transient", kind: "table_unavailable" });
  expect(worker.stripe.ledger.totals()).toMatchObject({ requests: 0 });
});

test("close to the deadline nothing new starts: the message goes back unclaimed", async () => {
  const worker = await startWorker();
  await worker.send(payment());

  // A claim, a charge and completing may take 31 s with the reserve.
  const late = await worker.receive({ remainingMs: 30_000 });

  expect(late.lines[0]).toMatchObject({ decision: "not_started" });
  expect(late.failed).toHaveLength(1);
  expect(worker.table.counts()).toEqual({});
  expect(await worker.record("order-1001")).toBeUndefined();
});

test("a revoked key is an operator's fault: nothing is lost, and a working key resolves it", async () => {
  let key = "sk_test_revoked";
  const dropped: string[] = [];
  const drop = (rejected: string) => void dropped.push(rejected);
  const worker = await startWorker({ keys: { get: async () => key, drop } });
  worker.stripe.keys.revoke("sk_test_revoked");

  const failed = await worker.deliver(payment());
  key = "sk_test_fresh";
  const retried = await worker.redeliver();

  expect(failed.lines[0]).toMatchObject({
    level: "ERROR",
    kind: "stripe_configuration",
    ConfigurationError: 1,
  });
  expect(dropped).toEqual(["sk_test_revoked"]);
  expect(retried.lines[0]).toMatchObject({ decision: "completed" });
  expect(JSON.stringify([...failed.lines, ...retried.lines])).not.toContain("sk_test");
});
