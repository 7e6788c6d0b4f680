// Failures that people met between their worker and Stripe.

import { expect, test } from "vitest";

import type { LogLine } from "../../lib/lambda/emf.ts";
import { fixedKey } from "../../lib/stripe/api-key.ts";
import { payment, startWorker } from "../support/worker.ts";

test("one id with two amounts is a conflict: one request, no new key, and the dead-letter queue", async () => {
  const worker = await startWorker({ maxReceiveCount: 2 });
  await worker.deliver(payment({ amount: 500 }));

  const conflict = await worker.deliver(payment({ amount: 700 }));
  await worker.redeliver();
  await worker.redeliver(); // the third receive moves it

  expect(conflict.failed).toHaveLength(1);
  expect(conflict.lines[0]).toMatchObject({
    level: "ERROR",
    decision: "conflict",
    messageId: "order-1001",
    Conflict: 1,
  });
  expect(worker.stripe.ledger.totals()).toMatchObject({ requests: 1, charges: 1 });
  expect(worker.stripe.ledger.charges()[0]).toMatchObject({ amount: 500 });
  expect(await worker.queue.depth(worker.dlqUrl)).toMatchObject({ visible: 1 });
});

test("one id with two amounts is a conflict even when nothing was charged yet", async () => {
  const worker = await startWorker();
  worker.stripe.faults.add({ method: "POST" }, { kind: "refuse", error: "unavailable" });
  await worker.deliver(payment({ amount: 500 }));

  const conflict = await worker.deliver(payment({ amount: 700 }));

  expect(conflict.lines[0]).toMatchObject({ decision: "conflict" });
  expect(worker.stripe.ledger.charges()).toEqual([]);
});

test("a key that Stripe knows with other parameters is a conflict, with the reason on the record", async () => {
  const worker = await startWorker();
  await worker.deliver(payment({ amount: 500 }));
  await worker.table.deleteExpired(1_798_977_601); // as if the table had been lost

  const conflict = await worker.deliver(payment({ amount: 700 }));

  expect(conflict.lines[0]).toMatchObject({ decision: "conflict", kind: "stripe_conflict" });
  expect(conflict.failed).toHaveLength(1);
  expect(await worker.record("order-1001")).toMatchObject({
    status: "IN_PROGRESS",
    lastError: { kind: "stripe_conflict" },
  });
  expect(worker.stripe.ledger.charges()).toHaveLength(1);
});

test("409 idempotency_key_in_use is transient, not a decline: the same key charges once", async () => {
  const worker = await startWorker();
  worker.stripe.faults.add({ method: "POST" }, { kind: "refuse", error: "idempotency_key_in_use" });

  const inUse = await worker.deliver(payment());
  const retried = await worker.redeliver();

  expect(inUse.lines[0]).toMatchObject({ decision: "transient", kind: "stripe_key_in_use" });
  expect(inUse.failed).toHaveLength(1);
  expect(retried.lines[0]).toMatchObject({ decision: "completed", outcome: "succeeded" });
  const keys = worker.stripe.ledger.requests().map((request) => request.idempotencyKey);
  expect(keys).toEqual(["order-1001", "order-1001"]);
  expect(worker.stripe.ledger.charges()).toHaveLength(1);
});

test.each([
  [
    "pm_card_chargeDeclinedInsufficientFunds",
    { code: "card_declined", declineCode: "insufficient_funds" },
  ],
  ["pm_card_authenticationRequired", { code: "authentication_required" }],
])(
  "the decline of %s is recorded with its codes and acknowledged once, not retried",
  async (paymentMethod, codes) => {
    const worker = await startWorker();
    const declined = payment({ paymentMethod });

    const first = await worker.deliver(declined);
    const again = await worker.deliver(declined);

    expect(first.acknowledged).toHaveLength(1);
    expect(first.lines[0]).toMatchObject({
      decision: "completed",
      outcome: "declined",
      Declined: 1,
    });
    expect(await worker.record("order-1001")).toMatchObject({
      status: "COMPLETED",
      outcome: { result: "declined", ...codes, paymentIntentId: expect.stringMatching(/^pi_/) },
    });
    expect(again.lines[0]).toMatchObject({ decision: "duplicate", outcome: "declined" });
    expect(worker.stripe.ledger.totals()).toMatchObject({ requests: 1, charges: 0 });
  },
);

test.each(["delayAfter", "slowBody"] as const)(
  "a Stripe call that takes too long (%s) is ended by its own timeout, and the same key finds the charge",
  async (kind) => {
    const worker = await startWorker({ timings: { stripeTimeoutMs: 400 } });
    worker.stripe.faults.add({ method: "POST" }, { kind, ms: 3_000 });

    const slow = await worker.deliver(payment());
    const retried = await worker.redeliver();

    expect(slow.lines[0]).toMatchObject({ decision: "transient", code: "timeout" });
    expect(retried.lines[0]).toMatchObject({ decision: "completed", outcome: "succeeded" });
    expect(worker.stripe.ledger.totals()).toMatchObject({ requests: 2, replayed: 1, charges: 1 });
  },
);

test("a bank debit that is processing is recorded as processing, not as paid", async () => {
  const worker = await startWorker();

  const delivered = await worker.deliver(payment({ paymentMethod: "pm_usBankAccount_success" }));

  expect(delivered.lines[0]).toMatchObject({ outcome: "processing", Processing: 1 });
  expect(delivered.lines[0]).not.toHaveProperty("Succeeded");
  expect(await worker.record("order-1001")).toMatchObject({ outcome: { result: "processing" } });
});

test("a request that Stripe calls invalid is no outcome: it goes to the dead-letter queue with its reason", async () => {
  const worker = await startWorker();

  const rejected = await worker.deliver(payment({ customer: "cus_missing" }));

  expect(rejected.failed).toHaveLength(1);
  expect(rejected.lines[0]).toMatchObject({
    level: "ERROR",
    decision: "rejected",
    code: "resource_missing",
    param: "customer",
  });
  expect(await worker.record("order-1001")).toMatchObject({
    status: "IN_PROGRESS",
    leaseExpiresAt: 0,
    lastError: {
      kind: "stripe_rejected",
      code: "resource_missing",
      param: "customer",
      requestId: expect.stringMatching(/^req_/),
    },
  });
});

test("a 500 that Stripe stored is replayed until the key is forgotten, and then charged once", async () => {
  const worker = await startWorker();
  worker.stripe.faults.add({ method: "POST" }, { kind: "storedError" });

  const stored = await worker.deliver(payment());
  const replayed = await worker.redeliver();
  worker.clock.now += 25 * 60 * 60 * 1_000;
  const charged = await worker.redeliver();

  expect(stored.lines[0]).toMatchObject({ kind: "stripe_unavailable" });
  expect(replayed.lines[0]).toMatchObject({ kind: "stripe_unavailable" });
  expect(charged.lines[0]).toMatchObject({ decision: "completed", lookedUp: true });
  expect(worker.stripe.ledger.charges()).toHaveLength(1);
});

test("a 500 that Stripe answered after it had charged is found by the lookup", async () => {
  const worker = await startWorker();
  worker.stripe.faults.add({ method: "POST" }, { kind: "storedErrorAfterCharge" });

  await worker.deliver(payment());
  worker.clock.now += 25 * 60 * 60 * 1_000;
  const found = await worker.redeliver();

  expect(found.lines[0]).toMatchObject({ decision: "completed", outcome: "succeeded" });
  expect(worker.stripe.ledger.totals()).toMatchObject({ charges: 1 });
});

test("a payment that was canceled at Stripe before its outcome was recorded ends as canceled", async () => {
  const worker = await startWorker();
  worker.stripe.faults.add({ method: "POST" }, { kind: "storedErrorAfterCharge" });
  await worker.deliver(payment({ paymentMethod: "pm_usBankAccount_success" }));
  worker.stripe.step(worker.stripe.paymentIntents()[0]?.id ?? "", "cancel");
  worker.clock.now += 25 * 60 * 60 * 1_000;

  const found = await worker.redeliver();

  expect(found.acknowledged).toHaveLength(1);
  expect(found.lines[0]).toMatchObject({
    decision: "completed",
    outcome: "canceled",
    lookedUp: true,
  });
  expect(await worker.record("order-1001")).toMatchObject({
    status: "COMPLETED",
    outcome: { result: "canceled", paymentIntentId: worker.stripe.paymentIntents()[0]?.id },
  });
  expect(worker.stripe.paymentIntents()).toHaveLength(1);
});

test("a rejection is asked once per chain of receives, and a redrive asks again", async () => {
  const worker = await startWorker({ maxReceiveCount: 3 });
  const five = ["a", "b", "c", "d", "e"].map((id) => payment({ id, customer: "cus_missing" }));
  const rejected = { decision: "rejected", code: "resource_missing", param: "customer" };

  const first = await worker.deliver(...five);
  const later = [await worker.redeliver(), await worker.redeliver()];
  await worker.redeliver(); // the fourth receive moves them
  const asked = worker.stripe.ledger.totals().requests;
  const redriven = await worker.deliver(...five);

  for (const { lines, failed } of [first, ...later]) {
    expect(failed).toHaveLength(5);
    for (const line of lines) expect(line).toMatchObject(rejected);
  }
  const requestIds = (lines: LogLine[]) => new Set(lines.map((line) => line["stripeRequestId"]));
  expect(requestIds(later[1]?.lines ?? [])).toEqual(requestIds(first.lines));
  expect(asked).toBe(5);
  expect(await worker.queue.depth(worker.dlqUrl)).toMatchObject({ visible: 5 });
  for (const line of redriven.lines) expect(line).toMatchObject({ ...rejected, attempt: 2 });
  expect(worker.stripe.ledger.totals()).toMatchObject({ requests: 10, charges: 0 });
});

test("a key of the wrong mode sends nothing to Stripe and nothing to the dead-letter queue", async () => {
  const worker = await startWorker({ keys: fixedKey("sk_test_local", "live") });

  const delivered = await worker.deliver(payment(), payment({ id: "order-1002" }));

  expect(delivered.error).toMatchObject({ name: "Unavailable" }); // the pollers slow down
  expect(delivered.lines).toMatchObject(
    ["order-1001", "order-1002"].map((messageId) => ({
      level: "ERROR",
      decision: "transient",
      messageId,
      kind: "stripe_configuration",
      code: "WrongStripeMode",
      ConfigurationError: 1,
    })),
  );
  expect(worker.stripe.ledger.totals()).toMatchObject({ requests: 0 });
  expect(await worker.queue.depth(worker.queueUrl)).toMatchObject({ visible: 0, inFlight: 2 });
  expect(await worker.queue.depth(worker.dlqUrl)).toMatchObject({ visible: 0 });
});
