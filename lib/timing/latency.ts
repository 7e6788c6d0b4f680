// How long an API takes to answer: a log-normal distribution, given by its median and its 99th
// percentile. A batch waits for the slowest of its requests.

/** In ms. Equal ones: every request takes the same time. */
export type Latency = { medianMs: number; p99Ms: number };

const Z_99 = 2.326_347_874; // 99 % of the standard normal distribution are below it

/** The standard deviation of the logarithm. */
export function sigmaOf({ medianMs, p99Ms }: Latency): number {
  return Math.log(p99Ms / medianMs) / Z_99;
}

const STEP = 0.02;
const EDGE = 9; // standard deviations: beyond, nothing is left to add up

/** The mean of the slowest of so many requests at once, in ms; of one, its own mean. */
export function slowestMs(latency: Latency, requests: number): number {
  const sigma = sigmaOf(latency);
  const at = (z: number): number => latency.medianMs * Math.exp(sigma * z);
  // A mean is what the chances to exceed t add up to, over all t.
  let mean = at(-EDGE);
  for (let z = -EDGE; z < EDGE; z += STEP) {
    mean += (at(z + STEP) - at(z)) * (1 - standardNormal(z + STEP / 2) ** requests);
  }
  return mean;
}

/** https://en.wikipedia.org/wiki/Error_function#Approximation_with_elementary_functions */
function standardNormal(z: number): number {
  const t = 1 / (1 + (0.327_591_1 * Math.abs(z)) / Math.SQRT2);
  const factors = [1.061_405_429, -1.453_152_027, 1.421_413_741, -0.284_496_736, 0.254_829_592];
  const rest = factors.reduce((sum, factor) => (sum + factor) * t, 0) * Math.exp((-z * z) / 2);
  return z < 0 ? rest / 2 : 1 - rest / 2;
}
