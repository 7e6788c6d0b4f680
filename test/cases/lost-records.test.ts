// A table that was restored, failed over, replaced or edited has forgotten a payment, and its message
// comes again: after Stripe has forgotten the key too, only the lookup knows.

import { expect, test } from "vitest";

import { babelQueue, cloudEvent, eventBridge, sns } from "../support/envelopes.ts";
import { payment, START, startWorker } from "../support/worker.ts";

const HOUR = 3_600_000;
const plain = payment();

const SHAPES: [shape: string, body: object][] = [
  ["plain JSON", plain],
  ["a CloudEvent", cloudEvent("order-1001")],
  ["a BabelQueue envelope", babelQueue("order-1001")],
  ["an SNS notification", sns(plain, "sns-1")],
  ["an EventBridge event", eventBridge(plain, "eb-1")],
  ["a CloudEvent in an SNS notification", sns(cloudEvent("order-1001"), "sns-1")],
  ["a BabelQueue envelope in an EventBridge event", eventBridge(babelQueue("order-1001"), "eb-1")],
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
