import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

import { expect, test } from "vitest";

import { DEFAULT_TIMINGS, violations } from "../../lib/timing/payments.ts";
import { typedItem } from "../../local/table/attribute-value.ts";
import { itemBytes } from "../../local/table/item.ts";
import { arrivals, compare, simulated, simulatePlan } from "../../scripts/capacity/compare.ts";
import { limitsOf } from "../../scripts/capacity/limits.ts";
import { partsFor } from "../../scripts/capacity/parts.ts";
import {
  ITEM_BYTES,
  LOG_LINE_BYTES,
  planFor,
  planOf,
  totalOf,
} from "../../scripts/capacity/plan.ts";
import type { Load } from "../../scripts/capacity/plan.ts";
import { seededRandom } from "../../simulation/search/random.ts";
import { TIMINGS } from "../support/timings.ts";
import { payment, startWorker } from "../support/worker.ts";

const STRIPE_DEFAULT: Load = {
  rate: 15,
  latency: { medianMs: 500, p99Ms: 2_000 },
  stripePerSecond: 25,
  duplicates: 0.01,
  retries: 0.01,
  windowMs: 0,
};
// The loads of docs/scale.md, with as much of Stripe's rate as each needs.
const SCALE: Load[] = [
  { ...STRIPE_DEFAULT, rate: 1 },
  STRIPE_DEFAULT,
  { ...STRIPE_DEFAULT, rate: 100, stripePerSecond: 200 },
  { ...STRIPE_DEFAULT, rate: 1_000, stripePerSecond: 2_000 },
  { ...STRIPE_DEFAULT, rate: 10_000, stripePerSecond: 20_000 },
];
const PAGE = readFileSync(new URL("../../docs/scale.md", import.meta.url), "utf8");
const AT_ONCE = Array.from({ length: 10_000 }, () => 0);

const row = (...cells: string[]) => `| ${cells.join(" | ")} |`;
const waitOf = ({ median, p99 }: { median: number; p99: number }) =>
  [median, p99].map((ms) => `${(ms / 1_000).toFixed(1)} s`);

/** Payments per second that a slot of these settings makes with full batches, in the simulation. */
function perSlot(load: Load, batchSize: number, concurrency: number, memoryMb: number): number {
  const settings = { batchSize, concurrency, memoryMb };
  const { charged, busyMs } = simulatePlan(load, settings, AT_ONCE, seededRandom(1));
  return (charged * 1_000) / busyMs;
}

test("for Stripe's default rate, the plan is what is deployed", () => {
  const { batchSize, eventSourceConcurrency } = DEFAULT_TIMINGS;

  expect(planFor(STRIPE_DEFAULT)).toMatchObject({ batchSize: 8, concurrency: 3, memoryMb: 256 });
  expect([batchSize, eventSourceConcurrency]).toEqual([8, 3]);
});

test.each([
  [1, 512],
  [5, 512],
  [8, 256],
  [8, 1_769],
  [10, 256],
])("a slot with batches of %i and %i MB makes what the plan says", (batchSize, memoryMb) => {
  const load = { ...STRIPE_DEFAULT, stripePerSecond: 100_000, retries: 0 };
  const planned = planOf(load, batchSize, 3, memoryMb).sustained / 3;

  const made = perSlot(load, batchSize, 3, memoryMb);

  expect(Math.abs(made / planned - 1)).toBeLessThan(0.03);
});

test.each(SCALE.slice(0, -1))(
  "the plan's cost at $rate per second is that of the simulated batches",
  (load) => {
    const plan = planFor(load);

    const { cost } = simulated(load, plan);

    expect(Math.abs(totalOf(plan) / cost - 1)).toBeLessThan(0.05);
  },
);

test("a record and a log line of the worker have the sizes that the costs are worked out with", async () => {
  const worker = await startWorker();

  const { lines } = await worker.deliver(payment({ id: "0d5f7c0e-7b3a-4c1e-9f6a-1b2c3d4e5f60" }));

  const [record = {}] = await worker.records();
  expect(Math.abs(itemBytes(typedItem(record)) / ITEM_BYTES - 1)).toBeLessThan(0.05);
  const written = Buffer.byteLength(`${JSON.stringify(lines[0])}\n`);
  expect(Math.abs(written / LOG_LINE_BYTES - 1)).toBeLessThan(0.05);
});

test.each(SCALE)("the plan for $rate payments per second breaks no rule of the timings", (load) => {
  const { batchSize, concurrency } = planFor(load);
  const queues = Math.ceil(concurrency / 1_000);

  const planned = {
    ...TIMINGS,
    batchSize,
    eventSourceConcurrency: concurrency / queues,
    reservedConcurrency: concurrency / queues,
    apiRequestsPerSecond: load.stripePerSecond / queues,
    apiLatencyMs: 500,
    apiLatencyP99Ms: 2_000,
  };
  expect(violations(planned)).toEqual([]);
});

test("the cost of a million payments, at Stripe's default rate and at a trickle", () => {
  const { costs } = planFor(STRIPE_DEFAULT);

  const shown = [...Object.values(costs), totalOf({ costs })].map((cost) => `$${cost.toFixed(2)}`);
  expect(shown).toEqual(["$0.70", "$1.52", "$0.54", "$0.38", "$0.00", "$3.14"]);
  expect(PAGE).toContain("| $0.70 | $1.52 | $0.54 | $0.38 | $3.14 |");
  expect(totalOf(planFor({ ...STRIPE_DEFAULT, rate: 1 }))).toBeLessThan(6);
});

test("the cost of a million of each part around the worker, on the page too", () => {
  const costs = partsFor(STRIPE_DEFAULT).map(({ name, cost }) => [name, `$${cost.toFixed(2)}`]);

  expect(costs).toEqual([
    ["payment-api", "$4.35"],
    ["outcome-publisher", "$1.44"],
    ["order-fulfillment", "$9.43"],
    ["stripe-webhook", "$0.53"],
    ["payment-finalizer", "$3.24"],
  ]);
  for (const [name, cost] of costs) {
    expect(PAGE).toMatch(new RegExp(`\\| \`${name}\` \\|.*\\| \\${cost} \\|`));
  }
  // At a trickle each outcome is an invocation of its own.
  const [, trickle] = partsFor({ ...STRIPE_DEFAULT, rate: 1 });
  expect(trickle?.cost).toBeGreaterThan(1.55);
});

test("Stripe's rate for one endpoint is the first limit, long before AWS's", () => {
  const limits = limitsOf(STRIPE_DEFAULT, planFor(STRIPE_DEFAULT));

  expect(limits.map(({ name }) => name)).toEqual([
    "Stripe: 25 requests/s on one endpoint",
    "Stripe: 100 requests/s for the whole account",
    "DynamoDB: 4,000 write units/s for a new table",
    "Lambda: 1,000 concurrent executions in the account",
    "Lambda: 1,000 concurrent batches of one event source",
    "DynamoDB: 40,000 write units/s for one table",
    "SQS: 120,000 messages in flight in one queue",
  ]);
  expect(limits[0]?.reachedAt).toBeCloseTo(24.75, 2);
  expect(limits[2]?.reachedAt).toBeCloseTo(1_960.8, 1);
});

test("the simulated queue carries the rate that the plan states, and Stripe never answers 429", () => {
  const load = { ...STRIPE_DEFAULT, duplicates: 0, retries: 0 };
  const plan = planFor(load);
  const random = seededRandom(2);

  const times = arrivals(40, 10_000, random);
  const { rate, throttled, charged } = simulatePlan(load, plan, times, random);

  expect(plan.sustained).toBeCloseTo(17.92, 2);
  expect(Math.abs(rate / plan.sustained - 1)).toBeLessThan(0.03);
  expect({ throttled, charged }).toEqual({ throttled: 0, charged: 10_000 });
});

test("ten thousand payments at once drain at the sustained rate, none throttled and none lost", () => {
  const plan = planFor(STRIPE_DEFAULT);

  const outcome = simulatePlan(STRIPE_DEFAULT, plan, AT_ONCE, seededRandom(3));

  expect(outcome).toMatchObject({ charged: 10_000, throttled: 0, deadLettered: 0 });
  expect(Math.abs(10_000 / outcome.rate - 558)).toBeLessThan(12); // seconds
});

test("with twenty times the concurrency Stripe answers 429, and the backoff still loses no payment", () => {
  const plan = { ...planFor(STRIPE_DEFAULT), concurrency: 60 };

  const outcome = simulatePlan(STRIPE_DEFAULT, plan, AT_ONCE, seededRandom(4));

  expect(outcome.throttled).toBeGreaterThan(10_000);
  expect(outcome).toMatchObject({ charged: 10_000, deadLettered: 0 });
});

test.each(SCALE)("at $rate per second payments wait little, and none is answered 429", (load) => {
  const random = seededRandom(5);
  const times = arrivals(load.rate, Math.max(10_000, 4 * load.rate), random);

  const { charged, throttled, waitMs } = simulatePlan(load, planFor(load), times, random);

  expect({ charged, throttled }).toEqual({ charged: times.length, throttled: 0 });
  expect(waitMs.median).toBeLessThan(1_250);
  expect(waitMs.p99).toBeLessThan(3_500);
});

test("other batch sizes at fifteen per second make what the page says of them", () => {
  const [tooFew, ...others] = compare(STRIPE_DEFAULT, planFor(STRIPE_DEFAULT));

  expect(tooFew).toMatchObject({ batchSize: 10, concurrency: 2 });
  expect(tooFew?.sustained).toBeLessThan(15);
  for (const { batchSize, concurrency, cost, waitMs } of others) {
    expect(PAGE).toContain(
      row(`${batchSize} × ${concurrency}`, `$${cost.toFixed(2)}`, ...waitOf(waitMs)),
    );
  }
});

test("a batch window at one per second saves what it says on the page, and costs the time", () => {
  for (const seconds of [0, 1, 2, 5, 10]) {
    const load = { ...STRIPE_DEFAULT, rate: 1, windowMs: 1_000 * seconds };
    const plan = planFor(load);
    const wait = waitOf(simulated(load, plan).waitMs);
    expect(PAGE).toContain(
      row(`${seconds} s`, plan.filled.toFixed(1), `$${totalOf(plan).toFixed(2)}`, ...wait),
    );
  }
});

test("hashed message ids load DynamoDB's partitions evenly, even when they count up", () => {
  // 10,000 payments per second are 20,400 write units; 30 partitions take 1,000 each.
  const partitions = Array.from({ length: 30 }, () => 0);
  for (let id = 0; id < 10_000; id++) {
    const hash = createHash("sha256").update(`order-${id}`).digest().readUInt32BE();
    const partition = hash % partitions.length;
    partitions[partition] = (partitions[partition] ?? 0) + 2.04;
  }

  expect(Math.max(...partitions)).toBeLessThan(1_000);
});

test("docs/scale.md says what the plan says", () => {
  const largest = { ...STRIPE_DEFAULT, rate: 10_000, stripePerSecond: 20_000 };

  for (const load of SCALE) {
    const plan = planFor(load);
    expect(PAGE).toContain(
      row(
        load.rate.toLocaleString("en"),
        load.stripePerSecond.toLocaleString("en"),
        `${plan.batchSize} × ${plan.concurrency.toLocaleString("en")}`,
        (plan.sustained / plan.concurrency).toFixed(1),
        Number(plan.writeUnitsPerSecond.toPrecision(3)).toLocaleString("en"),
        `$${totalOf(plan).toFixed(2)}`,
      ),
    );
  }
  expect(limitsOf(largest, planFor(largest)).map(({ reachedAt }) => reachedAt)).toEqual([
    expect.closeTo(1_960, -1), // the page's numbers, to three digits
    expect.closeTo(6_880, -1),
    expect.closeTo(6_880, -1),
    expect.closeTo(19_600, -2),
    expect.closeTo(19_800, -2),
    expect.closeTo(19_800, -2),
    expect.closeTo(82_600, -2),
  ]);
});

test("npm run capacity answers with the settings and the first limit, and rejects nonsense", async () => {
  const script = fileURLToPath(new URL("../../scripts/capacity.ts", import.meta.url));
  const capacity = (...args: string[]) => promisify(execFile)(process.execPath, [script, ...args]);

  const settings = ["--latency", "500", "--p99", "2000", "--stripe-rate", "25"];
  const { stdout } = await capacity("--rate", "15", ...settings);
  const { stdout: tooMuch } = await capacity("--rate", "20", ...settings);

  expect(stdout).toContain("batch size          8\n");
  expect(stdout).toContain("      24.8/s  Stripe: 25 requests/s on one endpoint\n");
  expect(stdout).toContain("carries             17.7/s payments\n");
  expect(tooMuch).toContain(
    "carries             19.5/s, less than the 20/s asked for: a burst waits, a steady load grows the queue by 0.52/s; ask Stripe for a higher rate (--stripe-rate)\n",
  );
  // What the command takes for granted follows the deployment.
  const { apiLatencyMs, apiLatencyP99Ms } = DEFAULT_TIMINGS;
  expect((await capacity("--rate", "20")).stdout).toContain(
    `, a median of ${apiLatencyMs} ms and a p99 of ${apiLatencyP99Ms} ms at Stripe, 25/s allowed`,
  );
  await expect(capacity("--rate", "1", "--p99", "499")).rejects.toMatchObject({
    code: 2,
    stderr: "--p99 (499) must not be below --latency, the median (500).\n",
  });
  await expect(capacity("--rate", "200000")).rejects.toMatchObject({
    code: 2,
    stderr: '--rate must be a number from 0.001 to 100000, not "200000".\n',
  });
});
