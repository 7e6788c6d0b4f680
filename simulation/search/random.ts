// Seeded randomness: the same seed gives the same schedule on every machine.

/** Numbers from 0 to below 1, by the sfc32 generator. `seed` is an unsigned 32-bit integer. */
export function seededRandom(seed: number): () => number {
  let a = 0x9e3779b9;
  let b = 0x243f6a88;
  let c = seed | 0;
  let counter = 1;
  const next = (): number => {
    const sum = (((a + b) | 0) + counter) | 0;
    counter = (counter + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = ((c << 21) | (c >>> 11)) + sum;
    return (sum >>> 0) / 2 ** 32;
  };
  for (let i = 0; i < 12; i++) next(); // until neighbouring seeds have nothing in common
  return next;
}

/** A number of the standard normal distribution. https://en.wikipedia.org/wiki/Box%E2%80%93Muller_transform */
export function standardNormal(random: () => number): number {
  return Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
}
