import { defineConfig } from "vitest/config";

// The suites that need servers of others: see install.sh.
export default defineConfig({
  test: {
    root: import.meta.dirname,
    globalSetup: ["../support/build.ts"],
    include: ["**/*.conformance.ts"],
    testTimeout: 60_000,
    hookTimeout: 90_000,
  },
});
