// A schedule by its code, `plan:depth:choices`: run again, told, and made shorter.

import { drawn, given } from "./choices.ts";
import type { Chooser } from "./choices.ts";
import { exhaustivePlans } from "./plans.ts";
import { randomPlan } from "./random-plan.ts";
import type { Rule, Violation } from "./rules.ts";
import type { Run, Runner, RunSettings } from "./schedule.ts";
import { collectTrace, formatTrace } from "./trace.ts";

export type Schedule = {
  /** The name of an exhaustive plan, or `random`. */
  plan: string;
  /** Faults at most. */
  depth: number;
  choices: readonly number[];
};

const RANDOM = "random";

const slug = (name: string): string => name.toLowerCase().replaceAll(/[^a-z0-9]+/g, "-");

export function codeOf({ plan, depth, choices }: Schedule): string {
  const last = choices.findLastIndex((choice) => choice !== 0);
  return `${slug(plan)}:${depth}:${choices.slice(0, last + 1).join(".")}`;
}

/** @throws Error when the code is not one of `codeOf` */
export function scheduleOf(code: string): Schedule {
  const [name = "", depth = "", choices = ""] = code.split(":");
  const plan = [RANDOM, ...exhaustivePlans(0).map((one) => one.name)].find(
    (one) => slug(one) === name,
  );
  if (plan === undefined || !/^\d+$/.test(depth) || !/^(\d+(\.\d+)*)?$/.test(choices)) {
    throw new Error(`"${code}" is not the code of a schedule: copy it from a violation's report.`);
  }
  const list = choices === "" ? [] : choices.split(".").map(Number);
  return { plan, depth: Number(depth), choices: list };
}

/** The choices that a seed stands for. */
export async function scheduleOfSeed(run: Runner, seed: number, depth: number): Promise<Schedule> {
  const chooser = drawn(seed);
  await runRandom(run, chooser, depth, { witness: { count: () => {}, digests: false } });
  return { plan: RANDOM, depth, choices: chooser.taken };
}

type Observed = Pick<RunSettings, "witness" | "known" | "only">;

/** Draws a plan and runs it. */
export function runRandom(
  run: Runner,
  chooser: Chooser,
  depth: number,
  observed: Observed,
): Promise<Run> {
  const plan = randomPlan(chooser.choose, depth);
  return run({ plan, chooser, exhaustive: false, ...observed });
}

/** Runs a schedule again. */
export function replay(
  run: Runner,
  { plan: name, depth, choices }: Schedule,
  observed: Observed,
): Promise<Run> {
  const chooser = given(choices);
  const plan = exhaustivePlans(depth).find((one) => one.name === name);
  if (plan) return run({ plan, chooser, exhaustive: true, ...observed });
  return runRandom(run, chooser, depth, observed);
}

/** Runs a schedule again and tells it. */
export async function trace(
  run: Runner,
  schedule: Schedule,
  only?: Rule,
): Promise<{ violation: Violation | undefined; text: string }> {
  const { lines, tell, watch } = collectTrace();
  const { violation } = await replay(run, schedule, {
    only,
    witness: { count: () => {}, digests: false, tell },
    known(world) {
      watch(world);
      return false;
    },
  });
  if (violation) tell("VIOLATION", violation.message);
  return { violation, text: formatTrace(lines) };
}
