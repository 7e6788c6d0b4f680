// npm run soak: thousands of payments among killed workers, lost replies and outages.
import { integer, number, readArguments } from "../cli/terminal/arguments.ts";
import { interruption, runCommand } from "../cli/terminal/command.ts";
import { build } from "../scripts/build.ts";
import { endTable, faultTable, lastLine } from "./harness/report.ts";
import { isKept } from "./harness/verdict.ts";
import { soak } from "./soak/soak.ts";
import type { Progress } from "./soak/soak.ts";

const COMMAND = {
  name: "soak",
  usage: "npm run soak -- [options]",
  about: `
Payments while workers are killed and frozen, requests and replies get lost or late, Stripe and the
table have outages, producers repeat and operators redrive; then a few quiet minutes, until each
message has come to its end. The built bundle in its own processes, on this machine only. Every number
comes from Stripe's ledger, the table and the queues.`,
  options: {
    minutes: number("N", "how long things go wrong; 0.5 is half a minute", {
      min: 0.01,
      max: 1_440,
      fallback: 1,
    }),
    seed: integer("S", "the chance of another run; processes keep their own timing", {
      min: 0,
      max: 2 ** 32 - 1,
    }),
  },
  notes: `
Ctrl-C ends it at once, with the last line so far. Exit status 0 when no payment was charged twice and
none was lost, 1 when one was.`,
};

await runCommand(async () => {
  const { values } = readArguments(COMMAND);
  const { minutes, seed = Math.floor(Math.random() * 2 ** 32) } = values;

  const interrupted = new AbortController();
  void interruption().then(() => interrupted.abort());
  await build();
  console.log(`Seed ${seed}: for the same chances again, add --seed ${seed}.`);
  const startedAt = performance.now();
  const { verdict, deliveries, kills, faults } = await soak({
    ms: minutes * 60_000,
    seed,
    interrupted: interrupted.signal,
    report: (progress) =>
      console.log(progressLine(progress, performance.now() - startedAt, minutes * 60_000)),
  });
  console.log(`\n${faultTable(faults)}\n\n${endTable(verdict)}\n`);
  if (verdict.lost.length > 0) console.log(`Lost: ${verdict.lost.join(", ")}`);
  const { aborted } = interrupted.signal;
  if (aborted) console.log(`Interrupted: ${verdict.open.length} still in the queue.`);
  const kept = isKept(verdict, aborted);
  const counts = {
    messages: verdict.rows.length,
    deliveries,
    kills,
    charges: verdict.charges,
    doubled: verdict.doubled,
    lost: verdict.lost.length,
  };
  console.log(lastLine(counts, kept));
  if (!kept) process.exitCode = 1;
  else if (aborted) process.exitCode = 130;
});

/** Times in ms. */
function progressLine(progress: Progress, elapsedMs: number, chaosMs: number): string {
  const { phase, sent, waiting, deadLetters, kills } = progress;
  const rate = (sent / Math.min(elapsedMs, chaosMs)) * 1_000;
  const left = Math.max(0, chaosMs - elapsedMs);
  return [
    `${clock(elapsedMs)}  ${phase}: ${sent} sent (${rate.toFixed(0)}/s)`,
    `${waiting} in the queue`,
    `${deadLetters} in the dead-letter queue`,
    `${kills} kills`,
    ...(left > 0 ? [`${clock(left)} left, and about a minute to settle`] : []),
  ].join(", ");
}

function clock(ms: number): string {
  const seconds = Math.round(ms / 1_000);
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
}
