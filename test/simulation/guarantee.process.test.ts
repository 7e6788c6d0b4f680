// As much of the simulation as fits into the test run; `npm run simulate` goes further.
import { expect, test } from "vitest";

import { violations } from "../../lib/timing/payments.ts";
import { missed } from "../../simulation/search/coverage.ts";
import { orderScenarios } from "../../simulation/search/order-scenarios.ts";
import { outcomeScenarios } from "../../simulation/search/outcome-scenarios.ts";
import { runTasks } from "../../simulation/search/pool.ts";
import { exhaustiveScenarios } from "../../simulation/search/scenarios.ts";
import type { Report, Task } from "../../simulation/search/thread.ts";
import { TIMINGS } from "../../simulation/world/timings.ts";

// With one fault these have most of the schedules: here they run with none.
const LARGE = new Set(["repeats, and workers whose clocks differ", "one id, two amounts"]);

const EXHAUSTIVE = exhaustiveScenarios(0).map(({ name: scenario }): Task => {
  return { kind: "explore", scenario, depth: LARGE.has(scenario) ? 0 : 1 };
});

const RANDOM = [0, 2_000, 4_000].map((from): Task => {
  return { kind: "random", from, to: from + 2_000, depth: 6 };
});

const OUTCOMES = [
  ...outcomeScenarios(0).map(({ name: scenario }): Task => {
    return { kind: "explore", scenario, depth: 0 };
  }),
  ...[0, 1_000, 2_000].map((from): Task => {
    return { kind: "random", family: "random outcomes", from, to: from + 1_000, depth: 6 };
  }),
];

// With one fault these have most of the schedules.
const LARGE_ORDERS = new Set([
  "an order, all the way",
  "an order whose event comes twice",
  "an order that is paid at last",
  "an order whose payment fails first",
  "two orders, and stock for one",
]);

const ORDERS = [
  ...orderScenarios(0).map(({ name: scenario }): Task => {
    return { kind: "explore", scenario, depth: LARGE_ORDERS.has(scenario) ? 0 : 1 };
  }),
  ...[0, 400].map((from): Task => {
    return { kind: "random", family: "random orders", from, to: from + 400, depth: 6 };
  }),
];

const reports = await runTasks([...RANDOM, ...EXHAUSTIVE], { threads: 2 });
const outcomes = await runTasks(OUTCOMES, { threads: 2 });
const orders = await runTasks(ORDERS, { threads: 2 });

function countsOf(some: readonly Report[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const report of some) {
    for (const [what, times] of report.counts) counts.set(what, (counts.get(what) ?? 0) + times);
  }
  return counts;
}

test.each([
  { where: "the worker", of: reports, family: "random", least: 10_000 },
  {
    where: "the publisher or the finalizer",
    of: outcomes,
    family: "random outcomes",
    least: 20_000,
  },
  { where: "the door or the fulfillment", of: orders, family: "random orders", least: 5_000 },
] as const)("no fault at any request of $where breaks the guarantee", ({ of, family, least }) => {
  expect(of.flatMap(({ found }) => found ?? [])).toEqual([]);
  const schedules = of.reduce((sum, report) => sum + report.schedules, 0);
  expect(schedules).toBeGreaterThan(least);
  // Every fault hit every request, and a delivery ended in every way.
  expect(missed(countsOf(of), family)).toEqual([]);
});

test("the simulation's timings keep every rule that a deployment has to keep", () => {
  expect(violations(TIMINGS)).toEqual([]);
});
