// Means and ratios with their 90 % interval, by Student's t over independent samples.

export type Interval = { mean: number; low: number; high: number };

export function meanOf(samples: readonly number[]): Interval {
  const mean = average(samples);
  const halfWidth = halfWidthOf(samples);
  return { mean, low: mean - halfWidth, high: mean + halfWidth };
}

/** The geometric mean of the pairs' ratios; a pair was measured in the same round. */
export function ratioOf(samples: readonly number[], others: readonly number[]): Interval {
  if (samples.length !== others.length) throw new Error("Bug! There are samples without a pair.");
  const { mean, low, high } = meanOf(samples.map((one, i) => Math.log(one / (others[i] ?? NaN))));
  return { mean: Math.exp(mean), low: Math.exp(low), high: Math.exp(high) };
}

export function average(samples: readonly number[]): number {
  return samples.reduce((sum, one) => sum + one, 0) / samples.length;
}

function halfWidthOf(samples: readonly number[]): number {
  const mean = average(samples);
  const freedom = samples.length - 1;
  const variance = samples.reduce((sum, one) => sum + (one - mean) ** 2, 0) / freedom;
  return t95(freedom) * Math.sqrt(variance / samples.length);
}

/** The 95th percentile of Student's t, by its expansion: within 0.5 % from 5 degrees of freedom on. */
function t95(freedom: number): number {
  const z = 1.6449;
  const first = (z ** 3 + z) / 4;
  const second = (5 * z ** 5 + 16 * z ** 3 + 3 * z) / 96;
  return z + first / freedom + second / freedom ** 2;
}
