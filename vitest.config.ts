import { availableParallelism } from "node:os";
import { join } from "node:path";

import { configDefaults, defineConfig } from "vitest/config";
import { BaseSequencer } from "vitest/node";
import type { TestSpecification } from "vitest/node";

/**
 * They start commands or workers as processes and wait for time to pass; the last three replace a
 * client's class. The longest first: what waits begins early, and what computes fills the gaps.
 */
const SLOW = [
  "test/operations/runbook.test.ts",
  "test/operations/redrive.test.ts",
  "test/operations/audit.test.ts",
  "test/operations/outage.test.ts",
  "test/simulation/promise.test.ts",
  "test/scripts/commands.test.ts",
  "test/scripts/demo.test.ts",
  "test/scripts/kills.test.ts",
  "test/operations/dlq.test.ts",
  "test/operations/status.test.ts",
  "test/scripts/soak.test.ts",
  "test/cases/crashes.test.ts",
  "test/local/event-source.test.ts",
  "test/simulation/mistakes.test.ts",
  "test/simulation/replay.test.ts",
  "test/operations/tail.test.ts",
  "test/operations/target.test.ts",
  "test/operations/move-task.test.ts",
];

/** The place in the order of SLOW; behind all of them for a test that is not slow. */
function placeOf({ moduleId }: TestSpecification): number {
  const place = SLOW.findIndex((file) => moduleId.endsWith(file));
  return place === -1 ? SLOW.length : place;
}

class SlowestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    return files.toSorted((a, b) => placeOf(a) - placeOf(b));
  }
}

export default defineConfig({
  test: {
    globalSetup: ["test/support/build.ts"],
    testTimeout: 30_000,
    restoreMocks: true,
    unstubEnvs: true,
    // More than there are cores: many tests wait most of the time.
    maxWorkers: Math.max(4, availableParallelism()),
    sequence: { sequencer: SlowestFirst },
    // For the commands that tests start: each is compiled once.
    env: { NODE_COMPILE_CACHE: join(import.meta.dirname, "node_modules/.cache/payments") },
    projects: [
      {
        extends: true,
        // A command is a process, and what it looks at takes its time.
        test: { name: "slow", include: SLOW, testTimeout: 120_000 },
      },
      {
        extends: true,
        test: {
          name: "quick",
          include: ["test/**/*.test.ts"],
          exclude: [...configDefaults.exclude, ...SLOW],
          // Loading the AWS clients and CDK for each file anew would take most of the time. No test
          // here leaves anything behind in its process.
          isolate: false,
        },
      },
    ],
  },
});
