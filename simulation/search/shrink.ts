// Makes a schedule that breaks an invariant shorter, as long as it breaks the same one.

import type { Rule } from "../checkers/rules.ts";
import { replay } from "./replay.ts";
import type { Schedule } from "./replay.ts";
import type { Runner } from "./schedule.ts";

const MOST_TRIES = 4_000;

/** The shortest schedule that was found: fewest steps, then fewest choices other than the fault-free one. */
export async function shrink(run: Runner, schedule: Schedule, only?: Rule): Promise<Schedule> {
  const observed = { only, recorder: { count: () => {}, digests: false } };
  const first = (await replay(run, schedule, observed)).violation;
  let best = schedule;
  let bestScore = Infinity;
  let tries = 0;

  const better = async (choices: readonly number[]): Promise<boolean> => {
    if (++tries > MOST_TRIES) return false;
    const candidate = { ...schedule, choices };
    const { violation, steps } = await replay(run, candidate, observed);
    const off = choices.filter((choice) => choice !== 0).length;
    const score = steps * 1_000_000 + off * 1_000 + choices.length;
    if (violation?.rule !== first?.rule || score >= bestScore) return false;
    best = candidate;
    bestScore = score;
    return true;
  };

  await better(schedule.choices);
  let before: number;
  do {
    before = bestScore;
    for (let size = best.choices.length; size >= 1; size = Math.floor(size / 2)) {
      for (let start = 0; start < best.choices.length;) {
        if (!(await better(best.choices.toSpliced(start, size)))) start += size;
      }
    }
    for (let i = 0; i < best.choices.length; i++) {
      const choice = best.choices[i] ?? 0;
      for (const smaller of [0, Math.floor(choice / 2), choice - 1]) {
        if (smaller >= 0 && smaller < choice) await better(best.choices.with(i, smaller));
      }
    }
  } while (bestScore < before);
  return best;
}
