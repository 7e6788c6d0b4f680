import { interruption, readArguments, runCommand, UsageError } from "../cli/terminal/command.ts";
// npm run soak: thousands of payments among killed workers, lost replies and outages.
import { build } from "../scripts/build.ts";
import { lastLine, isKept, faultTable, endingTable, progressLine } from "./soak/print.ts";
import { soak } from "./soak/soak.ts";

const HELP = `
npm run soak -- --minutes N [--seed S]

Payments for N minutes (1), while workers are killed and frozen, requests and replies get lost or
late, Stripe and the table have outages, producers repeat and operators redrive; then a few quiet
minutes, until each message has come to its end. The built bundle in its own processes, on this machine
only. Every number comes from Stripe's ledger, the table and the queues.

  --minutes N   how long things go wrong; 0.5 is half a minute
  --seed S      the chance of another run, an integer; processes keep their own timing

Ctrl-C ends it at once, with the last line so far. Exit status 0 when no payment was charged twice and
none was lost, 1 when one was.
`;

await runCommand(async () => {
  const { positionals, values } = readArguments(HELP, {
    minutes: { type: "string", default: "1" },
    seed: { type: "string", default: String(Math.floor(Math.random() * 2 ** 32)) },
  });
  if (positionals.length > 0) {
    throw new UsageError(`"${positionals[0]}" is not an option of soak. See --help.`);
  }
  const minutes = Number(values.minutes);
  if (!(minutes > 0 && minutes <= 24 * 60)) {
    throw new UsageError(
      "--minutes must be a number above 0, such as 10 or 0.5, and at most 1440.",
    );
  }
  const seed = Number(values.seed);
  if (!(Number.isInteger(seed) && seed >= 0 && seed < 2 ** 32)) {
    throw new UsageError("--seed must be an integer from 0 to 4294967295.");
  }

  const interrupted = new AbortController();
  void interruption().then(() => interrupted.abort());
  await build();
  console.log(`Seed ${seed}: for the same chances again, add --seed ${seed}.`);
  const startedAt = performance.now();
  const soaked = await soak({
    ms: minutes * 60_000,
    seed,
    interrupted: interrupted.signal,
    tell: (progress) =>
      console.log(progressLine(progress, performance.now() - startedAt, minutes * 60_000)),
  });
  const { verdict } = soaked;
  console.log(`\n${faultTable(soaked.planned)}\n\n${endingTable(verdict)}\n`);
  if (verdict.lost.length > 0) console.log(`Lost: ${verdict.lost.join(", ")}`);
  if (interrupted.signal.aborted)
    console.log(`Interrupted: ${verdict.unfinished} still in the queue.`);
  console.log(lastLine(soaked));
  if (!isKept(verdict, interrupted.signal.aborted)) process.exitCode = 1;
  else if (interrupted.signal.aborted) process.exitCode = 130;
});
