// The tests that judge each mutant of lib/: those that run lib/ in their own process.
import { defineConfig } from "vitest/config";

import { SoonestKill } from "./sequence.ts";

export default defineConfig({
  test: {
    include: [
      "test/*.test.ts",
      "test/producers/*.test.ts",
      "test/cases/*.test.ts",
      "test/mutation/*.suite.ts",
    ],
    exclude: [
      "test/functions/payment-worker.test.ts", // runs the bundle, which holds no mutants
      "test/functions/init.test.ts", // the same
      "test/cases/crashes.test.ts", // the same, and waits for leases
      "test/cases/outage.test.ts", // minutes a mutant; the simulation has an hour without Stripe too
    ],
    sequence: { sequencer: SoonestKill },
    env: { SEED: "1" }, // the same property tests for every mutant
    testTimeout: 20_000, // a mutant that hangs
    restoreMocks: true,
    unstubEnvs: true,
  },
});
