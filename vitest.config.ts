// Every suite of this repository, as a project: `vitest --project NAME`. A suffix says which project
// a file of test/ belongs to.
import { availableParallelism } from "node:os";
import { join } from "node:path";

import { configDefaults, defineConfig } from "vitest/config";
import type { TestProjectConfiguration } from "vitest/config";

import { FailFastOrder } from "./test/mutation/sequence.ts";

const projects: TestProjectConfiguration[] = [
  {
    extends: true,
    // They start processes and wait for time to pass, or replace a client's class. Vitest runs
    // projects by name and the slowest file first: these begin before the quick ones.
    test: { name: "process", include: ["test/**/*.process.test.ts"], testTimeout: 120_000 },
  },
  {
    extends: true,
    test: {
      name: "quick",
      include: ["test/**/*.test.ts"],
      exclude: [...configDefaults.exclude, "test/**/*.process.test.ts"],
      // Loading the AWS clients and CDK anew for each file would take most of the time, so a test
      // here leaves nothing behind in its process.
      isolate: false,
    },
  },
  {
    extends: true,
    // An outage, and each command of chaos/ in part: npm run chaos-suite.
    test: { name: "chaos", include: ["test/chaos/*.suite.ts"], testTimeout: 120_000 },
  },
  {
    extends: true,
    // Provokes every alarm of docs/runbook.md: npm run runbook.
    test: { name: "runbook", include: ["test/runbook/*.suite.ts"], testTimeout: 180_000 },
  },
  {
    extends: true,
    // Needs other projects' servers: test/conformance/install.sh.
    test: {
      name: "conformance",
      include: ["test/conformance/*.conformance.ts"],
      testTimeout: 60_000,
      hookTimeout: 90_000,
    },
  },
  {
    extends: true,
    // Needs Python: test/deploy/install.sh.
    test: {
      name: "deploy",
      include: ["test/deploy/*.suite.ts"],
      testTimeout: 180_000,
      hookTimeout: 120_000,
      fileParallelism: false,
    },
  },
  {
    extends: true,
    // Needs the npm registry.
    test: {
      name: "package",
      include: ["test/package/*.suite.ts"],
      testTimeout: 120_000,
      hookTimeout: 300_000,
    },
  },
  {
    extends: true,
    // Needs Chromium: test/browser/install.sh.
    test: {
      name: "browser",
      include: ["test/browser/*.suite.ts"],
      testTimeout: 180_000,
      hookTimeout: 60_000,
    },
  },
  {
    extends: true,
    // Needs Docker and the SAM CLI: test/sam/install.sh and test/sam/with-docker.sh.
    test: { name: "sam", include: ["test/sam/*.suite.ts"], testTimeout: 120_000 },
  },
];

/** The tests that run lib/ in their own process, where StrykerJS switches a mutant on. */
const mutation: TestProjectConfiguration = {
  test: {
    name: "mutation",
    include: [
      "test/lib/**/*.test.ts",
      "test/producers/*.test.ts",
      "test/cases/*.test.ts",
      "test/mutation/*.suite.ts",
    ],
    exclude: ["**/*.process.test.ts"],
    env: { SEED: "1" }, // the same property tests for every mutant
    testTimeout: 20_000, // a mutant that hangs
    restoreMocks: true,
    unstubEnvs: true,
  },
};

const mutating = process.env["STRYKER_MUTATOR_WORKER"] !== undefined;

export default defineConfig({
  test: {
    ...(mutating ? { sequence: { sequencer: FailFastOrder } } : {}),
    globalSetup: ["test/support/build.ts"],
    testTimeout: 30_000,
    restoreMocks: true,
    unstubEnvs: true,
    // More than there are cores: many tests wait most of the time.
    maxWorkers: Math.max(4, availableParallelism()),
    // For the commands that tests start: each is compiled once.
    env: { NODE_COMPILE_CACHE: join(import.meta.dirname, "node_modules/.cache/payments") },
    projects: mutating ? [mutation] : projects,
  },
});
