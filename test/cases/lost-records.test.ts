// A table that was restored, failed over, replaced or edited has forgotten a payment, and its message
// comes again: after Stripe has forgotten the key too, only the lookup knows.

import { expect, test } from "vitest";

import { payment, START, startWorker } from "../support/worker.ts";

const HOUR = 3_600_000;
const SENT = "2026-11-29T11:59:00Z";
const { id, createdAt: _, ...fields } = payment();

const plain = { id, createdAt: SENT, ...fields };
const cloudEvent = { specversion: "1.0", id, type: "t", source: "/shop", time: SENT, data: fields };
const babelQueue = {
  job: "payments",
  trace_id: "trace-1",
  data: fields,
  meta: { id, schema_version: 1, created_at: 1_795_953_540_000 },
  attempts: 0,
};
const notification = (message: object) => ({
  Type: "Notification",
  MessageId: "22b80b92-fdea-4c2c-8f9d-bdfb0c7bf324",
  Message: JSON.stringify(message),
  Timestamp: "2026-11-29T11:59:30.000Z",
});
const event = (detail: object) => ({
  id: "6a7e8feb-b491-4cf7-a9f1-bf3703467718",
  "detail-type": "PaymentRequested",
  time: "2026-11-29T11:59:30Z",
  detail,
});

const SHAPES: [shape: string, body: object][] = [
  ["plain JSON", plain],
  ["a CloudEvent", cloudEvent],
  ["a BabelQueue envelope", babelQueue],
  ["an SNS notification", notification(plain)],
  ["an EventBridge event", event(plain)],
  ["a CloudEvent in an SNS notification", notification(cloudEvent)],
  ["a BabelQueue envelope in an EventBridge event", event(babelQueue)],
];

test.each(SHAPES)("%s is charged once, however late its record is lost", async (_, body) => {
  for (const hours of [25, 72, 20 * 24]) {
    const worker = await startWorker();
    await worker.deliver(body);
    worker.clock.now = START + hours * HOUR;
    await worker.table.deleteExpired(1_798_977_601); // as a restored table has forgotten it

    const again = await worker.deliver(body);

    expect(again.lines[0]).toMatchObject({
      decision: "completed",
      outcome: "succeeded",
      lookedUp: true,
      takeover: false,
      attempt: 1,
    });
    expect(worker.stripe.ledger.charges()).toHaveLength(1);
    expect(worker.stripe.ledger.requests().map(({ method }) => method)).toEqual(["POST", "GET"]);
  }
});

test("a first delivery that is young pays nothing for it", async () => {
  const worker = await startWorker();
  worker.clock.now = START + 22 * HOUR;

  await worker.deliver(plain);

  expect(worker.stripe.ledger.requests().map(({ method }) => method)).toEqual(["POST"]);
  expect(worker.table.counts()).toEqual({ PutItem: 1, UpdateItem: 1 });
});

test("a record that was lost while Stripe still has the key is charged once, without a lookup", async () => {
  const worker = await startWorker();
  await worker.deliver(plain);
  await worker.table.deleteExpired(1_798_977_601);

  const again = await worker.deliver(plain);

  expect(again.lines[0]).toMatchObject({ decision: "completed", attempt: 1 });
  expect(worker.stripe.ledger.charges()).toHaveLength(1);
});

test("another amount under the id of a lost record is a conflict, and the first charge is not taken for it", async () => {
  const worker = await startWorker();
  await worker.deliver(plain);
  worker.clock.now = START + 25 * HOUR;
  await worker.table.deleteExpired(1_798_977_601);

  const other = await worker.deliver({ ...plain, amount: 1201 });

  expect(other.lines[0]).toMatchObject({ decision: "conflict", code: "other_payment" });
  expect(other.acknowledged).toHaveLength(0);
  expect(worker.stripe.ledger.charges()).toHaveLength(1);
});

test("a sender whose clock is five minutes ahead is charged once too", async () => {
  const worker = await startWorker();
  const ahead = { ...plain, createdAt: new Date(START + 299_000).toISOString() };
  await worker.deliver(ahead);
  worker.clock.now = START + 25 * HOUR;
  await worker.table.deleteExpired(1_798_977_601);

  const again = await worker.deliver(ahead);

  expect(again.lines[0]).toMatchObject({ decision: "completed", lookedUp: true });
  expect(worker.stripe.ledger.charges()).toHaveLength(1);
});
