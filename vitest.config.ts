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
  "test/cli/runbook.test.ts",
  "test/cli/redrive.test.ts",
  "test/cli/reconcile.test.ts",
  "test/cli/outage.test.ts",
  "test/simulation/guarantee.test.ts",
  "test/scripts/commands.test.ts",
  "test/chaos/demo.test.ts",
  "test/chaos/crash-matrix.test.ts",
  "test/cli/dlq.test.ts",
  "test/cli/status.test.ts",
  "test/chaos/soak.test.ts",
  "test/cases/crashes.test.ts",
  "test/local/event-source.test.ts",
  "test/simulation/seeded-bugs.test.ts",
  "test/simulation/replay.test.ts",
  "test/cli/tail.test.ts",
  "test/cli/target.test.ts",
  "test/cli/move-task.test.ts",
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
