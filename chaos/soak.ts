// npm run soak: thousands of payments among killed workers, lost replies and outages.
import { integer, number, readArguments } from "../cli/terminal/arguments.ts";
import { interruptSignal, runCommand } from "../cli/terminal/command.ts";
import { build } from "../scripts/build.ts";
import { aroundLine, conclude, endTable, faultTable, printWrong } from "./harness/report.ts";
import { isKept } from "./harness/verdict.ts";
import { soak } from "./soak/soak.ts";

const COMMAND = {
  name: "soak",
  usage: "npm run soak -- [options]",
  about: `
Sends payments while functions are killed and frozen, requests and replies get lost or late, Stripe
and the table have outages, Stripe's events come twice, late and forged, producers and clients
repeat and operators redrive; then waits a few quiet minutes, until each message has an end. Runs
the built bundles in their own processes, on this machine only. Every number comes from Stripe's
ledger, the tables, the queues and the bus.`,
  options: {
    minutes: number("N", "how long things go wrong; 0.5 is half a minute", [0.01, 1_440], 1),
    seed: integer(
      "S",
      "repeats another run's random choices; when a process gets its turn still differs",
      [0, 2 ** 32 - 1],
    ),
  },
  notes: `
Ctrl-C ends it at once, with the last line so far. Exit status 0 when no payment was charged twice and
none was lost, each outcome was published and each paid order shipped once; 1 when not.`,
};

await runCommand(async () => {
  const { values } = readArguments(COMMAND);
  const { seed = Math.floor(Math.random() * 2 ** 32) } = values;
  const interrupted = interruptSignal();
  await build();
  console.log(`Seed ${seed}: for the same chances again, add --seed ${seed}.`);
  const { verdict, deliveries, kills, faults } = await soak({
    ms: values.minutes * 60_000,
    seed,
    interrupted,
    report: console.log,
  });
  console.log(`\n${faultTable(faults)}\n\n${endTable(verdict)}\n`);
  if (verdict.lost.length > 0) console.log(`Lost: ${verdict.lost.join(", ")}`);
  const { aborted } = interrupted;
  printWrong(verdict, aborted);
  console.log(aroundLine(verdict, aborted));
  const counts = {
    messages: verdict.rows.length,
    deliveries,
    kills,
    charges: verdict.charges,
    doubled: verdict.doubled,
    lost: verdict.lost.length,
  };
  conclude(counts, isKept(verdict, aborted), aborted);
});
