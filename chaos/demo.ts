// npm run demo: an order and a few dozen payments among failures, and what became of each.
import { flag, integer, readArguments } from "../cli/terminal/arguments.ts";
import { interruption, runCommand } from "../cli/terminal/command.ts";
import type { Page } from "../local/page/server.ts";
import { build } from "../scripts/build.ts";
import { openLivePage } from "../scripts/live-page.ts";
import { reconcile } from "./demo/reconcile.ts";
import { runStory } from "./demo/story.ts";
import { againTable, messageTable, readsOf } from "./demo/tables.ts";
import { openHarness } from "./harness/harness.ts";
import type { Harness, PlannedFault } from "./harness/harness.ts";
import { aroundLine, faultTable, lastLine, printWrong } from "./harness/report.ts";
import { isKept } from "./harness/verdict.ts";
import { DEMO } from "./timings.ts";

const COMMAND = {
  name: "the demo",
  usage: "npm run demo -- [options]",
  about: `
Pays an order and a few dozen other payments, with everything that goes wrong.

Queues, tables, Stripe, the bus and every function run on this machine only, for about 15 seconds.
Every number comes from Stripe's ledger, the tables, the queues and the bus. Exit status 0 when no
payment was charged twice and none was lost, each outcome was published with one content, the goods
of each paid order left once, and every planned fault really happened; 1 when not.`,
  options: {
    page: flag("serves the live page meanwhile, and afterwards until Ctrl-C"),
    port: integer("N", "the page's port, instead of 4700 or the next free one", [1_024, 65_525]),
  },
};

await runCommand(async () => {
  const { values } = readArguments(COMMAND);
  const startedAt = performance.now();
  const interrupted = interruption().then(() => undefined);
  await build();
  const harness = await openHarness(DEMO, "everything");
  for (const one of harness.stack.functions) one.provision();
  const announce = (sentence: string): void => {
    const seconds = ((performance.now() - startedAt) / 1_000).toFixed(1);
    console.log(`${seconds.padStart(4)} s  ${sentence}`);
  };
  let page: Page | undefined;
  try {
    if (values.page || values.port !== undefined) {
      page = await openLivePage(harness.stack, { port: values.port, commands: false });
      console.log(`Live page: ${page.url}\n`);
    }
    const faults = await Promise.race([runStory(harness, announce), interrupted]);
    if (faults) await conclude(harness, faults);
    else process.exitCode = 130;
    if (page && faults) {
      console.log("\nThe live page stays until Ctrl-C.");
      await interrupted;
    }
  } finally {
    await page?.stop();
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
  console.log(`
${messageTable(harness, verdict)}

${readsOf(harness)}

${faultTable(faults)}
`);
  const again = againTable(harness, verdict, faults);
  if (again !== "") console.log(`Without a fault of their own:\n${again}\n`);
  if (!kept) {
    printWrong(verdict);
    console.log("The guarantee was violated. The functions' log:");
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
  const reconciled = await reconcile(harness);
  console.log(reconciled.line);
  console.log(aroundLine(verdict));
  console.log(lastLine(counts, kept));
  if (!kept || !complete || !reconciled.agrees) process.exitCode = 1;
}
