import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

import { expect, test } from "vitest";

import { DEFAULT_TIMINGS, violations } from "../../lib/timing/payments.ts";
import { limitsOf } from "../../scripts/capacity/limits.ts";
import { partsFor } from "../../scripts/capacity/parts.ts";
import { planFor } from "../../scripts/capacity/plan.ts";
import type { Load, Plan } from "../../scripts/capacity/plan.ts";
import { simulate } from "../../scripts/capacity/queue-simulation.ts";
import { TIMINGS } from "../support/timings.ts";

const STRIPE_DEFAULT: Load = {
  rate: 15,
  latencyMs: 500,
  stripePerSecond: 25,
  duplicates: 0.01,
  retries: 0.01,
};
// The loads of docs/scale.md, with as much of Stripe's rate as each needs.
const SCALE: Load[] = [
  { ...STRIPE_DEFAULT, rate: 10 },
  { ...STRIPE_DEFAULT, rate: 100, stripePerSecond: 200 },
  { ...STRIPE_DEFAULT, rate: 1_000, stripePerSecond: 2_000 },
  { ...STRIPE_DEFAULT, rate: 10_000, stripePerSecond: 20_000 },
];

/** The same numbers in every run: https://en.wikipedia.org/wiki/Lehmer_random_number_generator */
function random(seed: number): () => number {
  let state = seed;
  return () => (state = (state * 48_271) % 2_147_483_647) / 2_147_483_647;
}

/** Arrivals at random, as independent senders make them, in ms. */
function arrivals(rate: number, seconds: number): number[] {
  const next = random(20_261_129);
  const times: number[] = [];
  for (let at = 0; at < seconds * 1_000; at += (-Math.log(next()) * 1_000) / rate) times.push(at);
  return times;
}

function run(load: Load, { batchSize, concurrency, memoryMb }: Plan, times: number[]) {
  const setting = {
    batchSize,
    concurrency,
    cpuMsPerMessage: (2.5 * 1_769) / memoryMb,
    tableCallMs: 5,
    latencyMs: load.latencyMs,
    stripePerSecond: load.stripePerSecond,
  };
  return simulate(setting, times, random(1));
}

test("for Stripe's default rate, the plan is what docs/scale.md calls the defaults", () => {
  expect(planFor(STRIPE_DEFAULT)).toMatchObject({ batchSize: 5, concurrency: 2, memoryMb: 512 });
});

test.each(SCALE)("the plan for $rate payments per second breaks no rule of the timings", (load) => {
  const { batchSize, concurrency } = planFor(load);

  const planned = {
    ...TIMINGS,
    batchSize,
    eventSourceConcurrency: concurrency,
    reservedConcurrency: concurrency,
    apiRequestsPerSecond: load.stripePerSecond,
  };
  expect(violations(planned)).toEqual([]);
});

test("the cost of a million payments by Stripe's default rate", () => {
  const { costs } = planFor(STRIPE_DEFAULT);

  const rounded = Object.entries(costs).map(([service, cost]) => [service, cost.toFixed(2)]);
  expect(Object.fromEntries(rounded)).toEqual({
    Lambda: "0.93",
    DynamoDB: "1.64",
    SQS: "0.60",
    Logs: "0.60",
    "Secrets Manager": "0.00",
  });
});

test("the cost of a million of each part around the worker, on the page too", () => {
  const page = readFileSync(new URL("../../docs/scale.md", import.meta.url), "utf8");
  const costs = partsFor(STRIPE_DEFAULT).map(({ name, cost }) => [name, `$${cost.toFixed(2)}`]);

  expect(costs).toEqual([
    ["payment-api", "$6.09"],
    ["outcome-publisher", "$1.82"],
    ["order-fulfillment", "$10.20"],
    ["stripe-webhook", "$1.34"],
    ["payment-finalizer", "$6.50"],
  ]);
  for (const [name, cost] of costs) {
    expect(page).toMatch(new RegExp(`\\| \`${name}\` \\|.*\\| \\${cost} \\|`));
  }
  // At a trickle each outcome is an invocation of its own.
  const [, trickle] = partsFor({ ...STRIPE_DEFAULT, rate: 1 });
  expect(trickle?.cost).toBeGreaterThan(2.3);
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

  const { rate, throttled, charged } = run(load, plan, arrivals(40, 300));

  expect(plan.sustained).toBeCloseTo(18.08, 2);
  expect(rate / plan.sustained).toBeGreaterThan(0.98);
  expect(rate / plan.sustained).toBeLessThan(1.02);
  expect(throttled).toBe(0);
  expect(charged).toBe(arrivals(40, 300).length);
});

test("below that rate a payment hardly waits", () => {
  const plan = planFor(STRIPE_DEFAULT);

  const { waitMs } = run(STRIPE_DEFAULT, plan, arrivals(10, 600));

  expect(waitMs.median).toBeLessThan(1_000);
  expect(waitMs.p99).toBeLessThan(3_000);
});

test("ten thousand payments at once drain at the sustained rate, none throttled and none lost", () => {
  const plan = planFor(STRIPE_DEFAULT);

  const outcome = run(
    STRIPE_DEFAULT,
    plan,
    Array.from({ length: 10_000 }, () => 0),
  );

  expect(outcome).toMatchObject({ charged: 10_000, throttled: 0, deadLettered: 0 });
  expect(10_000 / outcome.rate).toBeCloseTo(553.2, 0); // seconds
});

test("with twenty times the concurrency Stripe answers 429, and the backoff still loses no payment", () => {
  const plan = { ...planFor(STRIPE_DEFAULT), concurrency: 40 };

  const outcome = run(
    STRIPE_DEFAULT,
    plan,
    Array.from({ length: 10_000 }, () => 0),
  );

  expect(outcome.throttled).toBeGreaterThan(10_000);
  expect(outcome).toMatchObject({ charged: 10_000, deadLettered: 0 });
});

test.each(SCALE)(
  "the plan for $rate payments per second carries them in the simulation",
  (load) => {
    const times = arrivals(load.rate, load.rate > 1_000 ? 4 : 20);

    const { charged, throttled, waitMs } = run(load, planFor(load), times);

    expect(charged).toBe(times.length);
    expect(throttled).toBe(0);
    expect(waitMs.p99).toBeLessThan(3_000);
  },
);

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
  const page = readFileSync(new URL("../../docs/scale.md", import.meta.url), "utf8");

  for (const load of SCALE) {
    const plan = planFor(load);
    const total = Object.values(plan.costs).reduce((sum, cost) => sum + cost, 0);
    const row = [
      load.rate.toLocaleString("en"),
      load.stripePerSecond.toLocaleString("en"),
      `${plan.batchSize} × ${plan.concurrency}`,
      `${plan.memoryMb} MB`,
      Number(plan.writeUnitsPerSecond.toPrecision(3)).toLocaleString("en"),
      `$${total.toFixed(2)}`,
    ];
    expect(page).toContain(`| ${row.join(" | ")} |`);
  }
  const slow = Object.values(planFor({ ...STRIPE_DEFAULT, rate: 1 }).costs);
  expect(page).toContain(
    `$${slow.reduce((sum, cost) => sum + cost, 0).toFixed(2)} per million at one`,
  );
  expect(page).toContain("| $0.93 | $1.64 | $0.60 | $0.60 | $3.78 |"); // as above
  expect(limitsOf(largest, planFor(largest)).map(({ reachedAt }) => reachedAt)).toEqual([
    expect.closeTo(1_960, -1), // the page's numbers, to three digits
    expect.closeTo(16_600, -2),
    expect.closeTo(16_600, -2),
    expect.closeTo(19_600, -2),
    expect.closeTo(19_800, -2),
    expect.closeTo(19_800, -2),
    expect.closeTo(199_000, -3),
  ]);
});

test("npm run capacity answers with the settings and the first limit, and rejects nonsense", async () => {
  const script = fileURLToPath(new URL("../../scripts/capacity.ts", import.meta.url));
  const capacity = (...args: string[]) => promisify(execFile)(process.execPath, [script, ...args]);

  const settings = ["--latency", "500", "--stripe-rate", "25"];
  const { stdout } = await capacity("--rate", "15", ...settings);
  const { stdout: tooMuch } = await capacity("--rate", "20", ...settings);

  expect(stdout).toContain("batch size          5\n");
  expect(stdout).toContain("      24.8/s  Stripe: 25 requests/s on one endpoint\n");
  expect(stdout).toContain("carries             17.9/s payments\n");
  expect(tooMuch).toContain(
    "carries             17.9/s, less than the 20/s asked for: a burst waits, a steady load grows the queue by 2.1/s; ask Stripe for a higher rate (--stripe-rate)\n",
  );
  // What the command takes for granted follows the deployment.
  const { apiLatencyMs, apiRequestsPerSecond } = DEFAULT_TIMINGS;
  expect((await capacity("--rate", "20")).stdout).toContain(
    `, ${apiLatencyMs} ms at Stripe, ${apiRequestsPerSecond.toLocaleString("en")}/s allowed`,
  );
  await expect(capacity("--rate", "-3")).rejects.toMatchObject({
    code: 2,
    stderr: expect.stringContaining("--rate") as string,
  });
  await expect(capacity("--rate", "200000")).rejects.toMatchObject({
    code: 2,
    stderr: '--rate must be a number from 0.001 to 100000, not "200000".\n',
  });
});
