// Everything that could go one way or another is a choice, and a schedule is the list of its
// choices: drawn from a seed, enumerated, replayed or shrunk, it is run by the same code.

import { seededRandom } from "./random.ts";

/** Picks one of several options, by its index; option 0 is the fault-free step. */
export type Choose = (weights: readonly number[]) => number;

export type Chooser = {
  choose: Choose;
  /** What was chosen so far, and among how many options. */
  taken: number[];
  options: number[];
};

/** Choices drawn by weight from a seed. */
export function drawn(seed: number): Chooser {
  const random = seededRandom(seed);
  return recording((weights) => {
    let rest = random() * weights.reduce((sum, weight) => sum + weight, 0);
    const index = weights.findIndex((weight) => (rest -= weight) < 0);
    return Math.max(0, index);
  });
}

/** The given choices, and the first option for each one after them. */
export function given(choices: readonly number[]): Chooser {
  let position = 0;
  // A shrunk list may ask for an option that is no longer there.
  return recording((weights) => Math.min(choices[position++] ?? 0, weights.length - 1));
}

function recording(pick: Choose): Chooser {
  const taken: number[] = [];
  const options: number[] = [];
  const choose: Choose = (weights) => {
    const index = pick(weights);
    taken.push(index);
    options.push(weights.length);
    return index;
  };
  return { choose, taken, options };
}

/** The choices after these in depth-first order; undefined when there are none. */
export function following({ taken, options }: Chooser): number[] | undefined {
  for (let last = taken.length - 1; last >= 0; last--) {
    const choice = taken[last] ?? 0;
    if (choice + 1 < (options[last] ?? 0)) return [...taken.slice(0, last), choice + 1];
  }
  return undefined;
}
