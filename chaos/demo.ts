// npm run demo: the worker among failures, and what became of each payment.
import { styleText } from "node:util";

import { readArguments } from "../cli/terminal/arguments.ts";
import { interruption, runCommand } from "../cli/terminal/command.ts";
import { table } from "../cli/terminal/table.ts";
import { build } from "../scripts/build.ts";
import { runStory } from "./demo/story.ts";
import { openHarness } from "./harness/harness.ts";
import type { Harness, PlannedFault } from "./harness/harness.ts";
import { faultTable, lastLine } from "./harness/report.ts";
import { isKept, LOST, OPEN, SILENT } from "./harness/verdict.ts";
import type { Verdict } from "./harness/verdict.ts";
import { DEMO } from "./timings.ts";

const COMMAND = {
  name: "the demo",
  usage: "npm run demo",
  about: `
Sends a few dozen payments through the worker, with everything that goes wrong.

Queue, table, Stripe and worker run on this machine only, for about 15 seconds. Every number comes
from Stripe's ledger, the table and the queues. Exit status 0 when no payment was charged twice and
none was lost, and every planned fault really happened; 1 when not.`,
  options: {},
};

await runCommand(async () => {
  readArguments(COMMAND);
  const startedAt = performance.now();
  const interrupted = interruption().then(() => undefined);
  await build();
  const harness = await openHarness(DEMO);
  const announce = (sentence: string): void => {
    const seconds = ((performance.now() - startedAt) / 1_000).toFixed(1);
    console.log(`${seconds.padStart(4)} s  ${sentence}`);
  };
  try {
    const faults = await Promise.race([runStory(harness, announce), interrupted]);
    if (faults) await conclude(harness, faults);
    else process.exitCode = 130;
  } finally {
    await harness.stack.stop();
  }
  // An interrupted story still waits for things that will not come.
  if (process.exitCode === 130) process.exit();
});

async function conclude(harness: Harness, faults: PlannedFault[]): Promise<void> {
  const { stack, deliveries } = harness;
  const verdict = await harness.verdict();
  const kept = isKept(verdict);
  const complete = faults.every((fault) => fault.happened() > 0);
  const lookups = stack.stripe.ledger.requests().filter(({ method }) => method === "GET");
  console.log(`
${messageTable(harness, verdict)}

Stripe requests are those that carry the message id; lookups on top of them: ${lookups.length}.

${faultTable(faults)}
`);
  if (!kept) {
    console.log("The guarantee was violated. The worker's log:");
    stack.feed.subscribe((event) => event.type === "log" && console.log(event.line));
  }
  if (!complete) console.log("Not every planned fault happened: this run shows too little.");
  const counts = {
    messages: verdict.rows.length,
    deliveries: deliveries.count(),
    charges: verdict.charges,
    "double charges": verdict.doubled,
    "lost messages": verdict.lost.length,
  };
  console.log(lastLine(counts, kept));
  if (!kept || !complete) process.exitCode = 1;
}

function messageTable({ stack, deliveries }: Harness, { rows }: Verdict): string {
  const cells = rows.map(({ id, charges, ends }) => [
    id,
    String(deliveries.of(id).length),
    String(stack.stripe.ledger.countsFor(id).requests),
    String(charges),
    [...new Set(ends)].join(", and "),
  ]);
  const violations = rows.map(
    ({ charges, ends }) => charges > 1 || ends.some((end) => [LOST, SILENT, OPEN].includes(end)),
  );
  const head = ["message", "deliveries", "Stripe requests", "charges", "how it ended"];
  return table(head, cells, {
    paint: (line, row) => (violations[row] ? styleText("red", line) : line),
  });
}
