// Runs every schedule of a scenario: depth first, and no state twice.

import type { Rule, Violation } from "../checkers/rules.ts";
import type { Scenario } from "../world/scenario.ts";
import { following, given } from "./choices.ts";
import type { Runner } from "./schedule.ts";
import { stateOf } from "./state.ts";

type Found = { scenario: string; choices: number[]; steps: number; violation: Violation };

type ExploreSettings = {
  count: (what: string) => void;
  /** Looks at one rule alone. */
  only?: Rule | undefined;
  /** Goes on after a violation, for the shortest one. */
  shortest?: boolean;
  /** Longer schedules are given up. */
  mostSteps?: number | undefined;
  onProgress?: (schedules: number) => void;
};

export async function explore(
  run: Runner,
  scenario: Scenario,
  { count, only, shortest = false, mostSteps, onProgress }: ExploreSettings,
): Promise<{ schedules: number; states: number; steps: number; found: Found | undefined }> {
  // By state: the most faults that were left there. With fewer left nothing new can happen; but
  // who looks for the shortest way must not have come later either.
  const visited = new Map<number, { faultsLeft: number; steps: number }>();
  let schedules = 0;
  let steps = 0;
  let found: Found | undefined;
  let next: number[] | undefined = [];
  while (next) {
    const prefix = next.length;
    const chooser = given(next);
    const result = await run({
      scenario,
      chooser,
      exhaustive: true,
      only,
      recorder: { count, digests: true },
      mostSteps: found?.steps ?? mostSteps,
      known(world, steps) {
        if (chooser.taken.length < prefix) return false; // on the way to what is new
        const state = stateOf(world);
        const { faultsLeft } = world;
        const before = visited.get(state);
        const later = before !== undefined && (!shortest || before.steps <= steps);
        if (later && before.faultsLeft >= faultsLeft) return true;
        visited.set(state, { faultsLeft, steps });
        return false;
      },
    });
    schedules += 1;
    steps += result.steps;
    onProgress?.(schedules);
    if (result.violation) {
      const { violation } = result;
      found = { scenario: scenario.name, choices: chooser.taken, steps: result.steps, violation };
      if (!shortest) break;
    }
    next = following(chooser);
  }
  return { schedules, states: visited.size, steps, found };
}
