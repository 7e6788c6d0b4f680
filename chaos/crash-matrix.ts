// npm run crash-matrix: kills every function at every request of the protocol, and shows what became of
// each payment.
import { flag, readArguments } from "../cli/terminal/arguments.ts";
import { interruption, runCommand } from "../cli/terminal/command.ts";
import { startProgress } from "../cli/terminal/progress.ts";
import { build } from "../scripts/build.ts";
import { AROUND_ROWS, runAroundRow } from "./crash-matrix/around.ts";
import { ROWS } from "./crash-matrix/points.ts";
import type { Row } from "./crash-matrix/points.ts";
import { isRight, matrixTable, summary } from "./crash-matrix/report.ts";
import type { Result } from "./crash-matrix/report.ts";
import { runRow } from "./crash-matrix/run-row.ts";

const COMMAND = {
  name: "crash-matrix",
  usage: "npm run crash-matrix -- [options]",
  about: `
Kills the worker with SIGKILL at every request of the protocol, before and after the request is
applied, and at every overlap with a second delivery; then every function around it at each of its
requests. Prints a row for each point.

The built bundles in their own processes, on this machine only, for about four minutes. Every number
comes from Stripe's ledger, the tables, the queues and the bus. Exit status 0 when each kill happened
as planned, each payment was charged once and recorded, each outcome was published and each order
shipped once; 1 when not.`,
  options: {
    around: flag("only the functions around the worker: less than a minute"),
  },
};

// Rows mostly wait for a lease or a visibility timeout: more at once than there are processors.
const AT_ONCE = 8;
// A busy machine can let a moment pass: then the row runs again after the others, when less is going on.
const TURNS = 6;

/** Runs a row. */
type Job = () => Promise<Result>;

await runCommand(async () => {
  const { values } = readArguments(COMMAND);
  const interrupted = interruption().then(() => true);
  await build();
  const results = new Map<Job, Result>();
  const rows = values.around ? [] : ROWS.map((row) => ({ row, job: () => runRow(row) }));
  const around = AROUND_ROWS.map(
    (row): Job =>
      () =>
        runAroundRow(row),
  );
  // Those that wait for the visibility timeout first: the others fill the gaps at the end.
  const first = rows.toSorted((a, b) => waits(b.row) - waits(a.row));
  const jobs: Job[] = [...first.map(({ job }) => job), ...around];
  const stopped = await Promise.race([runAll(jobs, results), interrupted]);

  const tables = [rows.map(({ job }) => job), around].map((some: readonly Job[]) =>
    some.flatMap((job) => results.get(job) ?? []),
  );
  for (const some of tables) if (some.length > 0) console.log(`\n${matrixTable(some)}`);
  console.log(`\n${summary(tables.flat())}`);
  if (!tables.flat().every(isRight)) process.exitCode = 1;
  // The stacks of the rows that were not over die with this process.
  if (stopped) process.exit(process.exitCode ?? 130);
});

/** Fills `results`. A row that shows nothing has another turn; a violation is one, however it came about. */
async function runAll(jobs: readonly Job[], results: Map<Job, Result>): Promise<false> {
  const queue = jobs.map((job) => ({ job, turn: 1 }));
  const progress = startProgress("points", queue.length);
  const lane = async (): Promise<void> => {
    for (let next = queue.shift(); next; next = queue.shift()) {
      const { job, turn } = next;
      const result = await job();
      results.set(job, result);
      if (isRight(result) || !result.kept || turn === TURNS) progress.advance();
      else queue.push({ job, turn: turn + 1 });
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, lane));
  progress.done();
  return false;
}

function waits({ secondDelivery }: Row): number {
  return Number(secondDelivery === "later");
}
