// One thread of the simulation: runs the tasks that it is given.

import { parentPort } from "node:worker_threads";

import type { Rule, Violation } from "../checkers/rules.ts";
import { SEEDED_BUGS } from "../seeded-bugs.ts";
import { loadWorker } from "../seeded-bugs/load-worker.ts";
import { drawn } from "./choices.ts";
import { explore } from "./explore.ts";
import { allScenarios, codeOf, runRandom } from "./replay.ts";
import type { Family, Schedule } from "./replay.ts";
import { createRunner } from "./schedule.ts";
import type { Runner } from "./schedule.ts";
import { shrink } from "./shrink.ts";

/** Seeds, or every schedule of a scenario; with a bug, on lib/ with that bug in it. */
export type Task = {
  /** Faults at most. */
  depth: number;
  bug?: string;
  /** Looks at one rule alone. */
  only?: Rule | undefined;
} & (
  | { kind: "random"; family?: Family; from: number; to: number }
  | { kind: "explore"; scenario: string; shortest?: boolean; mostSteps?: number }
);

export type Report = {
  task: Task;
  schedules: number;
  steps: number;
  /** States of an exploration. */
  states: number;
  counts: Map<string, number>;
  found?: { code: string; seed?: number; rule: Rule; message: string; steps: number };
};

/** What a thread says; the last word on a task is `done`. */
export type Word = { progress: number } | { done: Report };

const runners = new Map<string | undefined, Promise<Runner>>();

function runnerFor(name: string | undefined): Promise<Runner> {
  const known = runners.get(name);
  if (known) return known;
  const bug = SEEDED_BUGS.find((one) => one.name === name);
  if (name !== undefined && !bug) throw new Error(`There is no bug "${name}".`);
  const runner = loadWorker(bug).then(createRunner);
  runners.set(name, runner);
  return runner;
}

const PROGRESS_EVERY = 200;

async function perform(task: Task, onProgress: (schedules: number) => void): Promise<Report> {
  const run = await runnerFor(task.bug);
  const counts = new Map<string, number>();
  const count = (what: string) => counts.set(what, (counts.get(what) ?? 0) + 1);
  const report: Report = { task, schedules: 0, steps: 0, states: 0, counts };
  const { depth, only } = task;
  const found = (schedule: Schedule, { rule, message }: Violation, steps: number) => {
    report.found = { code: codeOf(schedule), rule, message, steps };
  };

  if (task.kind === "explore") {
    const scenario = allScenarios(depth).find(({ name }) => name === task.scenario);
    if (!scenario) throw new Error(`There is no scenario "${task.scenario}".`);
    const { shortest = false, mostSteps } = task;
    const result = await explore(run, scenario, {
      count,
      only,
      shortest,
      mostSteps,
      onProgress: (n) => n % PROGRESS_EVERY === 0 && onProgress(PROGRESS_EVERY),
    });
    const { schedules, states, steps } = result;
    Object.assign(report, { schedules, states, steps });
    if (result.found) found({ ...result.found, depth }, result.found.violation, result.found.steps);
    return report;
  }

  const { family = "random" } = task;
  const recorder = { count, digests: false };
  for (let seed = task.from; seed < task.to; seed++) {
    const chooser = drawn(seed);
    const observed = { recorder, only };
    const { violation, steps } = await runRandom(run, chooser, depth, observed, family);
    report.schedules += 1;
    report.steps += steps;
    if (report.schedules % PROGRESS_EVERY === 0) onProgress(PROGRESS_EVERY);
    if (!violation) continue;
    const schedule = { scenario: family, depth, choices: chooser.taken };
    found(await shrink(run, schedule, only), violation, steps);
    if (report.found) report.found.seed = seed;
    break;
  }
  return report;
}

// Stack traces are expensive, and a failed condition is an everyday answer.
Error.stackTraceLimit = 0;

const say = (word: Word): void => parentPort?.postMessage(word);

parentPort?.on("message", (task: Task) => {
  perform(task, (progress) => say({ progress })).then(
    (done) => say({ done }),
    (error: unknown) => {
      throw error; // ends the thread, which the pool notices
    },
  );
});
