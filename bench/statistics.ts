// Medians and spread: the samples of a shared machine have a long tail.

export type Summary = { median: number; p10: number; p90: number; samples: number };

/** @throws Error when there are not `expected` samples */
export function summarise(samples: readonly number[], expected: number): Summary {
  if (samples.length !== expected) {
    throw new Error(`Bug! ${samples.length} samples instead of ${expected}.`);
  }
  const sorted = samples.toSorted((a, b) => a - b);
  const at = (share: number) => sorted[Math.round(share * (sorted.length - 1))] ?? Number.NaN;
  return { median: at(0.5), p10: at(0.1), p90: at(0.9), samples: expected };
}
