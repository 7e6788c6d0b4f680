// Failures that people met around the claim, over HTTP against the local table, queue and Stripe.

import { expect, test } from "vitest";

import { payment, START, startWorker } from "../support/worker.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

/** Holds the next create at Stripe until it is let go; resolves `seen` when it is there. */
function holdAtStripe({ stripe }: Awaited<ReturnType<typeof startWorker>>) {
  const seen = Promise.withResolvers<void>();
  const go = Promise.withResolvers<void>();
  stripe.faults.add(
    { method: "POST" },
    {
      kind: "hook",
      at: "received",
      run: () => {
        seen.resolve();
        return go.promise;
      },
    },
  );
  return { seen: seen.promise, letGo: () => go.resolve() };
}

test("a claim in progress is never acknowledged as a duplicate", async () => {
  const worker = await startWorker();
  const atStripe = holdAtStripe(worker);
  const first = worker.deliver(payment());
  await atStripe.seen;

  const second = await worker.deliver(payment());
  atStripe.letGo();

  expect(second.failed).toHaveLength(1);
  expect(second.lines[0]).toMatchObject({ decision: "in_progress", messageId: "order-1001" });
  expect((await first).acknowledged).toHaveLength(1);
  expect((await worker.redeliver()).lines[0]).toMatchObject({ decision: "duplicate" });
  expect(worker.stripe.ledger.charges()).toHaveLength(1);
});

test("a rejected duplicate leaves the running worker's claim alone, and a third delivery does not charge", async () => {
  const worker = await startWorker();
  const atStripe = holdAtStripe(worker);
  const first = worker.deliver(payment());
  await atStripe.seen;
  const claimed = await worker.record("order-1001");

  const second = await worker.deliver(payment());
  const third = await worker.deliver(payment());

  expect(second.lines[0]).toMatchObject({ decision: "in_progress" });
  expect(third.lines[0]).toMatchObject({ decision: "in_progress" });
  expect(await worker.record("order-1001")).toEqual(claimed);
  atStripe.letGo();
  await first;
  expect(worker.stripe.ledger.totals()).toMatchObject({ requests: 1, charges: 1 });
});

test("two deliveries that overlap beyond the lease charge once, and only the owner completes", async () => {
  const worker = await startWorker();
  const atStripe = holdAtStripe(worker);
  const slow = worker.deliver(payment());
  await atStripe.seen;
  worker.clock.now += 2 * MINUTE; // for a clock that is ahead, the first lease of 65 s is over

  const takeover = await worker.deliver(payment());
  const taken = await worker.record("order-1001");
  worker.clock.now -= 2 * MINUTE;
  atStripe.letGo();
  const late = await slow;

  expect(takeover.lines[0]).toMatchObject({ kind: "stripe_key_in_use", takeover: true });
  expect(taken).toMatchObject({ status: "IN_PROGRESS", attempt: 2, leaseExpiresAt: 0 });
  expect(late.lines[0]).toMatchObject({ decision: "lease_lost" });
  expect(late.failed).toHaveLength(1);
  const retried = await worker.redeliver();
  expect(retried.acknowledged).toHaveLength(2);
  expect(worker.stripe.ledger.charges()).toHaveLength(1);
  expect(await worker.record("order-1001")).toMatchObject({ status: "COMPLETED", attempt: 3 });
});

test("a redrive after Stripe forgot the key looks first, and finds the charge", async () => {
  const worker = await startWorker({ timings: { stripeTimeoutMs: 500 } });
  worker.stripe.faults.add({ method: "POST" }, { kind: "delayAfter", ms: 2_000 });
  const unknown = await worker.deliver(payment());
  worker.clock.now = START + 25 * HOUR;

  const redriven = await worker.redeliver();

  expect(unknown.lines[0]).toMatchObject({ kind: "stripe_unavailable", code: "timeout" });
  expect(redriven.lines[0]).toMatchObject({ decision: "completed", lookedUp: true });
  const requests = worker.stripe.ledger.requests().map(({ method, path }) => [method, path]);
  expect(requests).toEqual([
    ["POST", "/v1/payment_intents"],
    ["GET", "/v1/payment_intents"],
  ]);
  const [charge] = worker.stripe.ledger.charges();
  expect(worker.stripe.ledger.charges()).toHaveLength(1);
  expect(await worker.record("order-1001")).toMatchObject({
    firstClaimedAt: 1_795_953_600_000,
    outcome: { result: "succeeded", paymentIntentId: charge?.paymentIntent },
  });
});

test("a redrive after Stripe forgot the key charges when the lookup finds nothing", async () => {
  const worker = await startWorker();
  worker.stripe.faults.add({ method: "POST" }, { kind: "refuse", error: "unavailable" });
  await worker.deliver(payment());
  worker.clock.now = START + 25 * HOUR;

  const redriven = await worker.redeliver();

  expect(redriven.lines[0]).toMatchObject({ decision: "completed", lookedUp: true });
  expect(worker.stripe.ledger.charges()).toHaveLength(1);
});

test("an expired record that DynamoDB has not deleted yet still counts", async () => {
  const worker = await startWorker();
  await worker.deliver(payment());
  worker.clock.now = START + 40 * 24 * HOUR;

  const again = await worker.deliver(payment({ createdAt: "2027-01-08T11:59:00Z" }));

  expect(again.lines[0]).toMatchObject({ decision: "duplicate" });
  expect(worker.stripe.ledger.charges()).toHaveLength(1);
});

test.each([
  ["put", "PutItem", false, { attempt: 1, takeover: false }],
  ["takeover", "UpdateItem", true, { attempt: 2, takeover: true }],
  ["complete", "UpdateItem", false, { attempt: 1, takeover: false }],
])(
  "a worker whose %s was sent twice, after a lost reply, knows its own claim and outcome",
  async (_, operation, isLater, expected) => {
    const worker = await startWorker();
    await worker.send(payment());
    if (isLater) {
      worker.stripe.faults.add({ method: "POST" }, { kind: "refuse", error: "unavailable" });
      await worker.receive();
    }
    const lost = worker.table.faults.add({ operation }, { kind: "dropAfter" });

    const delivered = await worker.redeliver();

    expect(lost.happened()).toBe(1);
    expect(delivered.acknowledged).toHaveLength(1);
    expect(delivered.lines[0]).toMatchObject({ decision: "completed", ...expected });
    expect(await worker.record("order-1001")).toMatchObject({ status: "COMPLETED" });
    expect(worker.stripe.ledger.charges()).toHaveLength(1);
  },
);

test("the largest record stays under 1 KB, so that a write is one unit", async () => {
  const worker = await startWorker();
  const id = "x".repeat(255);
  await worker.deliver(payment({ id, customer: "cus_missing" })); // leaves its error on the record

  const record = (await worker.record(id)) ?? {};

  // https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/CapacityUnitCalculations.html:
  // names and strings in UTF-8, at most 21 bytes a number, 3 a map and 1 more for each of its entries.
  const size = (value: unknown): number => {
    if (typeof value === "string") return Buffer.byteLength(value);
    if (typeof value !== "object" || value === null) return 21;
    return Object.entries(value).reduce((sum, [k, v]) => sum + k.length + size(v) + 1, 3);
  };
  // A decline, or the place of an unexpected error, is less than 200 bytes more.
  expect(record).toHaveProperty("lastError.requestId");
  expect(size(record)).toBeLessThan(1_024 - 200);
});

const NEW_ATTRIBUTES = ["amount", "currency", "completedAt", "revision"];

test("a claim that an earlier version released is taken over, and its outcome is a duplicate later", async () => {
  const worker = await startWorker();
  worker.stripe.faults.add({ method: "POST" }, { kind: "refuse", error: "unavailable" });
  await worker.deliver(payment());
  await worker.removeAttributes("order-1001", ...NEW_ATTRIBUTES);

  const completed = await worker.redeliver();
  await worker.removeAttributes("order-1001", ...NEW_ATTRIBUTES);
  const duplicate = await worker.deliver(payment());

  expect(completed.lines[0]).toMatchObject({ decision: "completed", attempt: 2, takeover: true });
  expect(duplicate.lines[0]).toMatchObject({ decision: "duplicate", outcome: "succeeded" });
  expect(worker.stripe.ledger.charges()).toHaveLength(1);
});

test.each(["leaseExpiresAt", "owner", "fingerprint", "attempt", "firstClaimedAt", "status"])(
  "a record without its %s is never taken over, and the log names the attribute",
  async (attribute) => {
    const worker = await startWorker();
    worker.stripe.faults.add({ method: "POST" }, { kind: "refuse", error: "unavailable" });
    await worker.deliver(payment());
    await worker.removeAttributes("order-1001", attribute);
    const damaged = await worker.record("order-1001");

    const { error, failed, lines } = await worker.redeliver();

    expect(error).toBeUndefined(); // neither Stripe nor the table was away
    expect(failed).toHaveLength(1);
    expect(lines[0]).toMatchObject({
      level: "ERROR",
      message: `the record is damaged and is not taken over: check its attribute ${attribute}`,
      decision: "transient",
      kind: "record_damaged",
      code: attribute,
    });
    expect(await worker.record("order-1001")).toEqual(damaged);
    expect(worker.stripe.ledger.totals()).toMatchObject({ charges: 0, requests: 1 });
  },
);

test("a record holds what was asked for from the claim on, when it was completed, and its TTL in integer seconds", async () => {
  const worker = await startWorker();
  const charge = holdAtStripe(worker);
  const delivery = worker.deliver(payment());
  await charge.seen;

  const claimed = await worker.record("order-1001");
  worker.clock.now += 1_500;
  charge.letGo();
  await delivery;

  expect(claimed).toMatchObject({ status: "IN_PROGRESS", amount: 1200, currency: "eur" });
  expect(claimed).not.toHaveProperty("revision");
  expect(await worker.record("order-1001")).toMatchObject({
    amount: 1200,
    currency: "eur",
    completedAt: 1_795_953_601_500,
    expiresAt: 1_798_977_600, // 2026-11-29T12:00:00Z and 35 days: 2027-01-03T12:00:00Z
    revision: 1,
  });
});
