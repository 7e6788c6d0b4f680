// As much of the simulation as fits into the test run; `npm run simulate` goes further.
import { expect, test } from "vitest";

import { violations } from "../../lib/timing/timing.ts";
import { missed } from "../../simulation/coverage.ts";
import { exhaustivePlans } from "../../simulation/plans.ts";
import { runTasks } from "../../simulation/pool.ts";
import type { Task } from "../../simulation/thread.ts";
import { TIMINGS } from "../../simulation/timings.ts";

// With one fault these have most of the schedules: here they run with none.
const LARGE = new Set(["repeats, and workers whose clocks differ", "one id, two amounts"]);

const EXHAUSTIVE = exhaustivePlans(0).map(({ name: plan }): Task => {
  return { kind: "explore", plan, depth: LARGE.has(plan) ? 0 : 1 };
});

const RANDOM = [0, 2_000, 4_000].map((from): Task => {
  return { kind: "random", from, to: from + 2_000, depth: 6 };
});

const reports = await runTasks([...RANDOM, ...EXHAUSTIVE], { threads: 2 });

test("no fault at any request of any schedule breaks the promise", () => {
  expect(reports.flatMap(({ found }) => found ?? [])).toEqual([]);
  const schedules = reports.reduce((sum, report) => sum + report.schedules, 0);
  expect(schedules).toBeGreaterThan(10_000);
});

test("every fault struck every request, and a delivery ended in every way", () => {
  const counts = new Map<string, number>();
  for (const report of reports) {
    for (const [what, times] of report.counts) counts.set(what, (counts.get(what) ?? 0) + times);
  }

  expect(missed(counts)).toEqual([]);
});

test("the simulation's timings keep every rule that a deployment has to keep", () => {
  expect(violations(TIMINGS)).toEqual([]);
});
