import { expect, test } from "vitest";

import { watchMemory } from "../../chaos/load/memory.ts";
import { createMeter } from "../../chaos/load/meter.ts";
import { problemsOf } from "../../chaos/load/report.ts";
import { createFeed } from "../../local/feed.ts";
import type { StackEvent } from "../../local/stack-event.ts";
import type { Stack } from "../../local/stack.ts";

const WORKER = { function: "payment-worker", pid: 1 };

function stackAlone() {
  const feed = createFeed<StackEvent>();
  let batches = 0;
  return {
    stack: { feed, worker: { name: "payment-worker" } } as unknown as Stack,
    /** A batch of these payments, each with its outcome. */
    batch: (ids: string[], heapBytes = 0, pid = 1): void => {
      batches += 1;
      const requestId = `request-${batches}`;
      const messages = ids.map((id) => ({
        messageId: `sqs-${id}`,
        receiptHandle: "",
        body: JSON.stringify({ id }),
        receiveCount: 1,
      }));
      feed.publish({ type: "invoked", ...WORKER, pid, requestId, cold: false, messages });
      for (const messageId of ids) {
        const after = { messageId, status: "COMPLETED" };
        feed.publish({ type: "record changed", before: undefined, after });
      }
      const memory = { heapBytes, rssBytes: 100 };
      const messageIds = messages.map(({ messageId }) => messageId);
      feed.publish({ type: "responded", ...WORKER, requestId, messageIds, failures: [], memory });
    },
  };
}

test("what the charges allow a slot is its payments in the time of each batch's slowest", () => {
  const { stack, batch } = stackAlone();
  const latencies = new Map([
    ["a", 100],
    ["b", 700],
    ["c", 300],
  ]);
  const done: string[] = [];
  const meter = createMeter(
    stack,
    1,
    (id) => latencies.get(id) ?? 0,
    (id) => done.push(id),
  );
  const stop = meter.start();
  for (const id of ["a", "b", "c"]) meter.sent(id);

  batch(["a", "b"]);
  batch(["c"]);
  batch(["a"]); // a repeat: it has its outcome already, and is not charged

  // Four messages in 700 + 300 + 100 ms.
  expect(stop()).toMatchObject({ messages: 4, batches: 3, allowedPerSlot: 4_000 / 1_100 });
  expect(done).toEqual(["a", "b", "c"]);
  expect(meter.outcomes()).toBe(3);
});

test.each([
  ["that keeps 100 bytes of each payment", 100, 100],
  ["with garbage that is collected", 0, 0],
])("the memory of a worker %s grows by %i bytes a payment", (_, kept, grown) => {
  const { stack, batch } = stackAlone();
  let payments = 0;
  const memory = watchMemory(stack, 2, () => payments);

  // Two workers, each with every second payment; only the first keeps something.
  for (let round = 1; round <= 1_000; round++) {
    const garbage = (round % 7) * 10_000;
    payments += 1;
    batch([`a${round}`], 1_000_000 + round * kept + garbage, 1);
    payments += 1;
    batch([`b${round}`], 1_000_000 + garbage, 2);
  }

  const { worker } = memory();
  expect(worker?.payments).toBeGreaterThanOrEqual(1_999);
  expect(Math.abs((worker?.bytesPerPayment ?? NaN) - grown)).toBeLessThan(8);
});

const MACHINE = { serversBusy: 0.3, delayMs: 5, idle: 0.6 };
const MEASURED = {
  seconds: 60,
  messages: 900,
  batches: 100,
  perSlot: 5.4,
  allowedPerSlot: 6,
  outcomeMs: { p50: 900, p99: 2_500 },
  machine: MACHINE,
};
const ORDERS = {
  orders: 10,
  requests: 12,
  repeats: 1,
  accepted: 10,
  shippedMs: () => ({ p50: 1, p99: 2 }),
};
const HELD = { heap: 1, rss: 1 };
const keeping = (bytesPerPayment: number, payments: number) => ({
  memory: { worker: { payments, early: HELD, late: HELD, bytesPerPayment } },
});
const SLOW = { ...MEASURED, perSlot: 5.3 };
const RESULT = {
  full: MEASURED,
  steady: { ...MEASURED, rate: 12 },
  repeats: 9,
  deliveries: 909,
  memory: { worker: undefined, servers: undefined },
  verdict: { charges: 10, shipped: 10 },
};

test.each<[string, object, RegExp[]]>([
  ["makes 90 % of what the charges allow", {}, []],
  ["makes less", { full: SLOW }, [/less than 90 % of what the charges allow/]],
  [
    "makes less on a machine that is too busy to say",
    { full: { ...SLOW, machine: { ...MACHINE, idle: 0.05 } } },
    [/machine was the bottleneck/],
  ],
  ["ships each order", { full: undefined, orders: ORDERS }, []],
  [
    "ships one order less than it charged",
    { orders: ORDERS, verdict: { charges: 10, shipped: 9 } },
    [/not equally many/],
  ],
  [
    "keeps 65 bytes of each of 50,000 payments",
    keeping(65, 50_000),
    [/keeps 65 bytes of each payment/],
  ],
  ["was too short to tell warming up from a leak", keeping(9_000, 49_999), []],
])("a load that %s is reported as such", (_, changes, sentences) => {
  const problems = problemsOf({ ...RESULT, ...changes } as Parameters<typeof problemsOf>[0]);

  expect(problems).toEqual(sentences.map((one) => expect.stringMatching(one) as string));
});
