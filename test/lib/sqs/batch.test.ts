import { expect, test } from "vitest";

import type { IdempotencyRecord } from "../../../lib/payments/record.ts";
import { allUnavailable, processBatch, retryDelaySeconds } from "../../../lib/sqs/batch.ts";
import type { Result } from "../../../lib/sqs/batch.ts";
import { WORKER_TIMINGS } from "../../support/timings.ts";

const NOW = 1_795_953_600_000;

function result(ending: Result["ending"], receiveCount = 1): Result {
  const delivery = { sqsMessageId: "sqs-1", receiptHandle: "handle-1", body: "", receiveCount };
  return { delivery, ending };
}

const transient = (kind: "stripe_unavailable" | "stripe_key_in_use" | "table_unavailable") =>
  ({ decision: "transient", error: { kind } }) as const;
const body = (id: string) =>
  JSON.stringify({
    id,
    createdAt: "2026-11-29T11:59:00Z",
    amount: 1200,
    currency: "eur",
    customer: "cus_ada",
    paymentMethod: "pm_card_visa",
  });
const bug = () => {
  throw new RangeError("no clock");
};
const delay = (of: Result, random: number) => retryDelaySeconds(of, WORKER_TIMINGS, NOW, random);

test.each([
  [1, 15, 30],
  [2, 30, 60],
  [5, 240, 480],
  [6, 450, 900],
  [14, 450, 900],
  [2_000, 450, 900],
])("after receive %i a transient failure waits from %i to %i s", (receiveCount, least, most) => {
  const failed = result(transient("stripe_unavailable"), receiveCount);

  expect([delay(failed, 0), delay(failed, 0.999_999)]).toEqual([least, most]);
});

test.each([
  [NOW + 41_000, 41],
  [NOW + 41_001, 42],
  [NOW, 1],
  [NOW - 5_000, 1],
])("a held claim comes back when its lease has ended", (leaseExpiresAt, seconds) => {
  expect(delay(result({ decision: "in_progress", leaseExpiresAt }), 0.5)).toBe(seconds);
});

test.each<Result["ending"]>([
  { decision: "invalid", violation: { field: "amount", rule: "amount" } },
  { decision: "conflict" },
  { decision: "rejected", error: { kind: "stripe_rejected" } },
])("poison does not wait for the dead-letter queue: $decision", (ending) => {
  expect(delay(result(ending, 3), 0.5)).toBe(0);
});

test.each<Result["ending"]>([{ decision: "lease_lost" }, { decision: "not_started" }])(
  "$decision backs off like a transient failure",
  (ending) => {
    expect(delay(result(ending, 2), 0)).toBe(30);
  },
);

test.each(["completed", "duplicate"] as const)("%s is acknowledged", (decision) => {
  const outcome = { result: "succeeded", paymentIntentId: "pi_1" } as const;

  expect(delay(result({ decision, outcome }), 0.5)).toBeUndefined();
});

test("a batch is unavailable only when each of its messages is", () => {
  const down = result(transient("stripe_unavailable"));
  const table = result(transient("table_unavailable"));
  const inUse = result(transient("stripe_key_in_use"));

  expect(allUnavailable([down, table])).toBe(true);
  expect(allUnavailable([down, inUse])).toBe(false);
  expect(allUnavailable([])).toBe(false);
});

test.each([
  "stripe_unavailable",
  "stripe_rate_limited",
  "stripe_configuration",
  "table_unavailable",
] as const)("a batch that failed with %s alone is unavailable", (kind) => {
  const failed = result({ decision: "transient", error: { kind } });

  expect(allUnavailable([failed, failed])).toBe(true);
});

test("a bug that one message hits does not bring the others back", async () => {
  const deliveries = ["hit", "spared"].map((id) => ({
    sqsMessageId: `sqs-${id}`,
    receiptHandle: `handle-${id}`,
    body: body(id),
    receiveCount: 1,
  }));
  const deps = {
    timings: WORKER_TIMINGS,
    now: () => NOW,
    newOwner: () => "owner-1",
    records: {
      claim: async () => undefined,
      takeOver: async () => undefined,
      complete: async ({ messageId }: { messageId: string }) => {
        if (messageId === "hit") throw new TypeError("value 4242424242424242 is not a function");
        return true;
      },
      release: async () => {},
    },
    charges: {
      create: async () =>
        ({ kind: "outcome", outcome: { result: "succeeded", paymentIntentId: "pi_1" } }) as const,
      find: async () => ({ kind: "none" }) as const,
    },
  };

  const results = await processBatch(deliveries, deps, { remainingMs: () => 60_000 });

  expect(results.map(({ ending }) => ending.decision)).toEqual(["transient", "completed"]);
  expect(results[0]?.ending).toMatchObject({ error: { kind: "unexpected", code: "TypeError" } });
  expect(JSON.stringify(results[0]?.ending)).not.toContain("4242424242424242");
});

test("a copy in the batch of a message that fails is no takeover of its own", async () => {
  const deliveries = ["sqs-1", "sqs-2"].map((sqsMessageId) => ({
    sqsMessageId,
    receiptHandle: "",
    body: body("order-1"),
    receiveCount: 2,
  }));
  const deps = {
    timings: WORKER_TIMINGS,
    now: () => NOW,
    newOwner: () => "owner-2",
    records: {
      claim: async (record: IdempotencyRecord) => ({
        ...record,
        owner: "owner-1",
        leaseExpiresAt: 0,
      }),
      takeOver: async () => undefined,
      complete: async () => true,
      release: async () => {},
    },
    charges: {
      create: async () => ({ kind: "error", error: { kind: "stripe_unavailable" } }) as const,
      find: async () => ({ kind: "none" }) as const,
    },
  };

  const results = await processBatch(deliveries, deps, { remainingMs: () => 60_000 });

  expect(results.map(({ ending }) => ending)).toMatchObject([
    { decision: "transient", takeover: true, attempt: 2 },
    { decision: "transient", takeover: false, attempt: 2 },
  ]);
});

test("a clock that cannot be read fails each message by itself, not the batch", async () => {
  const delivery = {
    sqsMessageId: "sqs-1",
    receiptHandle: "handle-1",
    body: "{}",
    receiveCount: 1,
  };
  const deps = { timings: WORKER_TIMINGS, now: bug } as unknown as Parameters<
    typeof processBatch
  >[1];

  const [only] = await processBatch([delivery], deps, { remainingMs: () => 60_000 });

  expect(only?.ending).toMatchObject({
    decision: "transient",
    error: { kind: "unexpected", code: "RangeError" },
  });
});

test("payments that differ under one id in a batch run one after another", async () => {
  const claimed: string[] = [];
  const finish = Promise.withResolvers<undefined>();
  const deliveries = [1200, 1300, 1400].map((amount) => ({
    sqsMessageId: `sqs-${amount}`,
    receiptHandle: `handle-${amount}`,
    body: body("order-1").replace("1200", String(amount)),
    receiveCount: 1,
  }));
  const deps = {
    timings: WORKER_TIMINGS,
    now: () => NOW,
    newOwner: () => `owner-${claimed.length + 1}`,
    records: {
      claim: async ({ owner }: { owner: string }) => {
        claimed.push(owner);
        return finish.promise;
      },
      takeOver: async () => undefined,
      complete: async () => true,
      release: async () => {},
    },
    charges: {
      create: async () =>
        ({ kind: "outcome", outcome: { result: "succeeded", paymentIntentId: "pi_1" } }) as const,
      find: async () => ({ kind: "none" }) as const,
    },
  };

  const results = processBatch(deliveries, deps, { remainingMs: () => 60_000 });
  // All that can run without an answer to the first claim has run by the next turn of the loop.
  await new Promise((resolve) => setImmediate(resolve));
  const atFirst = [...claimed];
  finish.resolve(undefined);
  await results;

  expect(atFirst).toEqual(["owner-1"]);
  expect(claimed).toEqual(["owner-1", "owner-2", "owner-3"]);
});

test("a refused message is told by its id where that was readable", async () => {
  const deliveries = [body("order-1").replace("1200", "0"), "{}"].map((text, i) => ({
    sqsMessageId: `sqs-${i}`,
    receiptHandle: `handle-${i}`,
    body: text,
    receiveCount: 1,
  }));
  const deps = { timings: WORKER_TIMINGS, now: () => NOW } as unknown as Parameters<
    typeof processBatch
  >[1];

  const [readable, unreadable] = await processBatch(deliveries, deps, {
    remainingMs: () => 60_000,
  });

  expect(readable).toMatchObject({ messageId: "order-1", ending: { decision: "invalid" } });
  expect(unreadable).toMatchObject({ ending: { decision: "invalid" } });
  expect(unreadable).not.toHaveProperty("messageId");
});
