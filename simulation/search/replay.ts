// A schedule by its code, `scenario:depth:choices`: run again and traced.

import type { Rule, Violation } from "../checkers/rules.ts";
import type { Scenario } from "../world/scenario.ts";
import { drawn, given } from "./choices.ts";
import type { Chooser } from "./choices.ts";
import { orderScenarios, randomOrders } from "./order-scenarios.ts";
import { outcomeScenarios, randomOutcomes } from "./outcome-scenarios.ts";
import { randomScenario } from "./random-scenario.ts";
import { exhaustiveScenarios } from "./scenarios.ts";
import type { Run, Runner, RunSettings } from "./schedule.ts";
import { collectTrace, formatTrace } from "./trace.ts";

export type Schedule = {
  /** The name of an exhaustive scenario, or `random`. */
  scenario: string;
  /** Faults at most. */
  depth: number;
  choices: readonly number[];
};

/** What there is to explore and to draw, by the name of what is drawn. */
export const FAMILIES = {
  random: { scenarios: exhaustiveScenarios, draw: randomScenario },
  "random outcomes": { scenarios: outcomeScenarios, draw: randomOutcomes },
  "random orders": { scenarios: orderScenarios, draw: randomOrders },
} as const;
export type Family = keyof typeof FAMILIES;

const isFamily = (name: string): name is Family => name in FAMILIES;

/** Every scenario that is explored, of each family. */
export const allScenarios = (faults: number): Scenario[] =>
  Object.values(FAMILIES).flatMap(({ scenarios }) => scenarios(faults));

const slug = (name: string): string => name.toLowerCase().replaceAll(/[^a-z0-9]+/g, "-");

export function codeOf({ scenario, depth, choices }: Schedule): string {
  const last = choices.findLastIndex((choice) => choice !== 0);
  return `${slug(scenario)}:${depth}:${choices.slice(0, last + 1).join(".")}`;
}

/** @throws Error when the code is not one of `codeOf` */
export function scheduleOf(code: string): Schedule {
  const [name = "", depth = "", choices = ""] = code.split(":");
  const scenario = [...Object.keys(FAMILIES), ...allScenarios(0).map((one) => one.name)].find(
    (one) => slug(one) === name,
  );
  if (scenario === undefined || !/^\d+$/.test(depth) || !/^(\d+(\.\d+)*)?$/.test(choices)) {
    throw new Error(`"${code}" is not the code of a schedule: copy it from a violation's report.`);
  }
  const list = choices === "" ? [] : choices.split(".").map(Number);
  return { scenario, depth: Number(depth), choices: list };
}

/** The choices that a seed stands for. */
export async function scheduleOfSeed(
  run: Runner,
  seed: number,
  depth: number,
  family: Family = "random",
): Promise<Schedule> {
  const chooser = drawn(seed);
  const recorder = { count: () => {}, digests: false };
  await runRandom(run, chooser, depth, { recorder }, family);
  return { scenario: family, depth, choices: chooser.taken };
}

type Observed = Pick<RunSettings, "recorder" | "known" | "only">;

/** Draws a scenario and runs it. */
export function runRandom(
  run: Runner,
  chooser: Chooser,
  depth: number,
  observed: Observed,
  family: Family = "random",
): Promise<Run> {
  const scenario = FAMILIES[family].draw(chooser.choose, depth);
  return run({ scenario, chooser, exhaustive: false, ...observed });
}

/** Runs a schedule again. */
export function replay(
  run: Runner,
  { scenario: name, depth, choices }: Schedule,
  observed: Observed,
): Promise<Run> {
  const chooser = given(choices);
  if (isFamily(name)) return runRandom(run, chooser, depth, observed, name);
  const scenario = allScenarios(depth).find((one) => one.name === name);
  if (!scenario) throw new Error(`There is no scenario "${name}".`);
  return run({ scenario, chooser, exhaustive: true, ...observed });
}

/** Runs a schedule again and traces it. */
export async function trace(
  run: Runner,
  schedule: Schedule,
  only?: Rule,
): Promise<{ violation: Violation | undefined; text: string }> {
  const { lines, record, watch } = collectTrace();
  const { violation } = await replay(run, schedule, {
    only,
    recorder: { count: () => {}, digests: false, trace: record },
    known(world) {
      watch(world);
      return false;
    },
  });
  if (violation) record("VIOLATION", violation.message);
  return { violation, text: formatTrace(lines) };
}
