// Decisions by chance, all from one seed. The processes' own timing is not seeded.
import { seededRandom } from "../../simulation/search/random.ts";

export type Chance = {
  /** True in this share of calls, from 0 to 1. */
  happens: (share: number) => boolean;
  /** A number from `low` to below `high`. */
  between: (low: number, high: number) => number;
  pick: <T>(choices: readonly [T, ...T[]]) => T;
};

/** `seed` is an unsigned 32-bit integer. */
export function chanceOf(seed: number): Chance {
  const random = seededRandom(seed);
  return {
    happens: (share) => random() < share,
    between: (low, high) => low + (high - low) * random(),
    pick: (choices) => choices[Math.floor(random() * choices.length)] ?? choices[0],
  };
}
