// The tests that judge each mutant of lib/: those that run lib/ in their own process.
import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/*.test.ts", "test/cases/*.test.ts", "test/mutation/*.suite.ts"],
    exclude: [
      "test/bundle.test.ts", // runs the bundle, which holds no mutants
      "test/init.test.ts", // the same
      "test/cases/crashes.test.ts", // the same, and waits for leases
      "test/cases/outage.test.ts", // minutes a mutant; the simulation has an hour without Stripe too
    ],
    testTimeout: 30_000,
    restoreMocks: true,
    unstubEnvs: true,
  },
});
