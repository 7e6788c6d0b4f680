// npm run crash-matrix: kills the worker at every request of the protocol, and shows what became of each
// payment.
import { readArguments } from "../cli/terminal/arguments.ts";
import { interruption, runCommand } from "../cli/terminal/command.ts";
import { startProgress } from "../cli/terminal/progress.ts";
import { build } from "../scripts/build.ts";
import { ROWS } from "./crash-matrix/points.ts";
import type { Row } from "./crash-matrix/points.ts";
import { matrixTable, summary } from "./crash-matrix/report.ts";
import { isKept, isRight, runRow } from "./crash-matrix/run-row.ts";
import type { RowResult } from "./crash-matrix/run-row.ts";

const COMMAND = {
  name: "crash-matrix",
  usage: "npm run crash-matrix",
  about: `
Kills the worker with SIGKILL at every request of the protocol, before and after the request is
applied, and at every overlap with a second delivery; prints a table with a row for each point.

The built bundle in its own processes, on this machine only, for about three minutes. Every number
comes from Stripe's ledger, the table and the queues. Exit status 0 when each kill happened as planned
and each payment was charged once and recorded; 1 when not.`,
  options: {},
};

// Rows mostly wait for a lease or a visibility timeout: more at once than there are processors.
const AT_ONCE = 8;
// A busy machine can let a moment pass: then the row runs again after the others, when less is going on.
const TURNS = 6;

await runCommand(async () => {
  readArguments(COMMAND);
  const interrupted = interruption().then(() => true);
  await build();
  const results = new Map<Row, RowResult>();
  const stopped = await Promise.race([runAll(results), interrupted]);

  const inOrder = ROWS.flatMap((row) => results.get(row) ?? []);
  console.log(`\n${matrixTable(inOrder)}\n\n${summary(inOrder)}`);
  if (inOrder.some((result) => !isRight(result))) process.exitCode = 1;
  // The stacks of the rows that were not over die with this process.
  if (stopped) process.exit(process.exitCode ?? 130);
});

async function runAll(results: Map<Row, RowResult>): Promise<false> {
  // Those that wait for the visibility timeout first: the others fill the gaps at the end.
  const queue = ROWS.toSorted((a, b) => waits(b) - waits(a)).map((row) => ({ row, turn: 1 }));
  const progress = startProgress("points", queue.length);
  const lane = async (): Promise<void> => {
    for (let next = queue.shift(); next; next = queue.shift()) {
      const { row, turn } = next;
      const result = await runRow(row);
      results.set(row, result);
      // Never after a violation: that is a result, however it came about.
      const isDone = isRight(result) || !isKept(result) || turn === TURNS;
      if (isDone) progress.advance();
      else queue.push({ row, turn: turn + 1 });
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, lane));
  progress.done();
  return false;
}

function waits({ secondDelivery }: Row): number {
  return Number(secondDelivery === "later");
}
