// Runs every schedule within a bound and then random ones, with progress, and sums them up.
import { startProgress } from "../../cli/terminal/progress.ts";
import { formatCoverage } from "../../simulation/search/coverage.ts";
import { runTasks } from "../../simulation/search/pool.ts";
import { FAMILIES, scheduleOf, trace } from "../../simulation/search/replay.ts";
import type { Family } from "../../simulation/search/replay.ts";
import { createRunner } from "../../simulation/search/schedule.ts";
import type { Report, Task } from "../../simulation/search/thread.ts";
import { loadWorker } from "../../simulation/seeded-bugs/load-worker.ts";
import type { SeededBug } from "../../simulation/seeded-bugs/load-worker.ts";

export type Search = {
  /** Faults at most in the exhaustive scenarios; undefined leaves them out. */
  depth: number | undefined;
  /** The first seed. */
  from: number;
  seeds: number;
  /** Faults at most in a random schedule. */
  faults: number;
  threads: number;
  bug: SeededBug | undefined;
  family: Family;
};

const BOUNDS: Readonly<Record<Family, string>> = {
  random: "one message id, two workers and three deliveries",
  "random outcomes":
    "one message id, a worker, the publisher and two finalizers, and three deliveries",
  "random orders":
    "one key at the door and a worker, or one or two orders and two fulfillments, and three deliveries",
};

const SEEDS_A_TASK = 2_000;

export async function search(settings: Search): Promise<void> {
  const { depth, seeds, faults, threads } = settings;
  const startedAt = performance.now();
  const all: Report[] = [];
  const run = async (tasks: Task[], total: number | undefined, say: (report: Report) => void) => {
    const progress = startProgress("schedules", total);
    const onReport = (report: Report) => {
      all.push(report);
      say(report);
    };
    await runTasks(tasks, { threads, onProgress: (by) => progress.advance(by), onReport });
    progress.done();
  };

  if (depth !== undefined) {
    console.log(
      `Every schedule of ${BOUNDS[settings.family]}, with at most ${times(depth)} anywhere:`,
    );
    await run(explorations(settings, depth), undefined, ({ task, schedules, states }) => {
      const scenario = task.kind === "explore" ? task.scenario : "";
      console.log(`${column(schedules)} schedules${column(states)} states  ${scenario}`);
    });
  }
  if (seeds > 0) {
    console.log(`\n${number(seeds)} random schedules, with at most ${times(faults)} each:`);
    await run(randomTasks(settings), seeds, () => {});
  }
  conclude(all, settings.family, (performance.now() - startedAt) / 1_000);
  await printShortest(all, settings.bug);
}

/** The long ones first, so that the threads end together. */
function explorations({ bug, family }: Search, depth: number): Task[] {
  const of = ({ name: scenario }: { name: string }): Task => {
    const named = bug && { bug: bug.name };
    return { kind: "explore", scenario, depth, only: bug?.shows, ...named };
  };
  return FAMILIES[family].scenarios(depth).map(of).toReversed();
}

function randomTasks({ from, seeds, faults, threads, bug, family }: Search): Task[] {
  const size = Math.min(SEEDS_A_TASK, Math.ceil(seeds / threads));
  return Array.from({ length: Math.ceil(seeds / size) }, (_, i): Task => {
    const first = from + i * size;
    const to = Math.min(first + size, from + seeds);
    const named = bug && { bug: bug.name };
    return { kind: "random", family, from: first, to, depth: faults, only: bug?.shows, ...named };
  });
}

function conclude(reports: readonly Report[], family: Family, seconds: number): void {
  const counts = new Map<string, number>();
  for (const report of reports) {
    for (const [what, n] of report.counts) counts.set(what, (counts.get(what) ?? 0) + n);
  }
  const sum = (of: (report: Report) => number) =>
    reports.reduce((total, one) => total + of(one), 0);
  const schedules = sum((report) => report.schedules);
  const broken = sum((report) => (report.found ? 1 : 0));
  console.log(`\n${formatCoverage(counts, family)}\n`);
  // On a busy machine the threads wait: the rate by their own time is the comparable one.
  const { user, system } = process.cpuUsage();
  const processorSeconds = (user + system) / 1_000_000;
  const verdict = broken === 0 ? "No rule was broken." : `${broken} broke a rule.`;
  console.log(
    `${number(schedules)} schedules, ${number(sum((one) => one.steps))} steps in ${number(seconds)} s: ${number(schedules / seconds)} a second, ${number(schedules / processorSeconds)} a second of processor time. ${verdict}`,
  );
}

async function printShortest(
  reports: readonly Report[],
  bug: SeededBug | undefined,
): Promise<void> {
  const found = reports.flatMap((report) => report.found ?? []);
  const [shortest] = found.toSorted((a, b) => a.steps - b.steps);
  if (!shortest) return;
  process.exitCode = 1;
  const { code, seed } = shortest;
  const run = createRunner(await loadWorker(bug));
  const { text } = await trace(run, scheduleOf(code), bug?.shows);
  const option = bug ? ` --bug "${bug.name}"` : "";
  console.log(`\n${text}\n`);
  if (seed !== undefined) console.log(`This was seed ${seed}, made shorter.`);
  console.log(`To see it again: npm run simulate --${option} --replay ${code}`);
}

const number = (n: number): string => Math.round(n).toLocaleString("en-US");
const column = (n: number): string => number(n).padStart(12);
const times = (faults: number): string => (faults === 1 ? "1 fault" : `${faults} faults`);
