// Decisions by chance, all from one seed. The processes' own timing is not seeded.
import { seededRandom } from "../../simulation/search/random.ts";

export type Chance = ReturnType<typeof chanceOf>;

/** `seed` is an unsigned 32-bit integer. */
export function chanceOf(seed: number) {
  const random = seededRandom(seed);
  return {
    /** True in this share of calls, from 0 to 1. */
    happens: (share: number): boolean => random() < share,
    /** A number from `low` to below `high`. */
    between: (low: number, high: number): number => low + (high - low) * random(),
    pick: <T>(choices: readonly [T, ...T[]]): T =>
      choices[Math.floor(random() * choices.length)] ?? choices[0],
  };
}
