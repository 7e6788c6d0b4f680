// payments watch: the overview, refreshed until Ctrl-C.
import { setTimeout as sleep } from "node:timers/promises";

import { findTarget, TARGET_OPTIONS } from "../clients/target.ts";
import { createReader } from "../overview/read.ts";
import { showOverview } from "../overview/show.ts";
import { integer, readArguments } from "../terminal/arguments.ts";
import { interruptSignal } from "../terminal/command.ts";
import { utc } from "../terminal/print.ts";

const MINUTES_15 = 15 * 60_000;
const CLEAR = "\x1b[H\x1b[2J\x1b[3J";

export const COMMAND = {
  name: "watch",
  usage: "npm run payments -- watch [options]",
  about: `
Shows the overview again and again until Ctrl-C, which ends it with exit status 0. Without a terminal
it prints one after the other.`,
  options: {
    ...TARGET_OPTIONS,
    interval: integer("SECONDS", "between two looks", [1, 3_600], 5),
  },
  notes: `
The dead-letter queue, which cannot be read without receiving, is read again only when the number of its
messages changes. Needs what payments overview needs.`,
  examples: [
    "npm run payments -- watch",
    "npm run payments -- watch --interval 30 --stack PaymentWorker-prod",
  ],
};

export async function run(args: string[]): Promise<void> {
  const { values } = readArguments(COMMAND, args);
  const target = await findTarget(values);
  const signal = interruptSignal();
  const read = createReader(target, signal);
  while (!signal.aborted) {
    const since = Date.now() - MINUTES_15;
    const overview = await read(since);
    if (signal.aborted) break;
    const lines = [`${utc(Date.now())} UTC`, ...overview.warnings, showOverview(overview, since)];
    process.stdout.write(`${process.stdout.isTTY ? CLEAR : ""}${lines.join("\n\n")}\n\n`);
    await sleep(1_000 * values.interval, undefined, { signal }).catch(() => {});
  }
}
