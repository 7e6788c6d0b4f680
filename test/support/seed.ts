// The seed of the property tests: another one in each run, printed, and given again with SEED.

export const SEED = Number(process.env["SEED"] ?? Math.floor(Math.random() * 2 ** 31));

console.log(`Seed ${SEED}: for the same run again, set SEED=${SEED}.`);
