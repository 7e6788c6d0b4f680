import { join } from "node:path";

import { defineConfig } from "vitest/config";

// `npm test` leaves these suites out: they need Python, and minutes.
export default defineConfig({
  root: join(import.meta.dirname, "..", ".."),
  test: {
    include: ["test/deploy/*.suite.ts"],
    globalSetup: ["test/support/build.ts"],
    testTimeout: 180_000,
    hookTimeout: 120_000,
    fileParallelism: false,
    bail: 1, // the steps build on each other
  },
});
