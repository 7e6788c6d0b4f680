// npm run simulate: every schedule within a bound, then random ones, on the real lib/.
import { availableParallelism } from "node:os";

import { flag, integer, readArguments, text } from "../cli/terminal/arguments.ts";
import { runCommand, UsageError } from "../cli/terminal/command.ts";
import { codeOf, scheduleOf, scheduleOfSeed, trace } from "../simulation/search/replay.ts";
import type { Family } from "../simulation/search/replay.ts";
import { createRunner } from "../simulation/search/schedule.ts";
import { shrink } from "../simulation/search/shrink.ts";
import { SEEDED_BUGS } from "../simulation/seeded-bugs.ts";
import { loadWorker } from "../simulation/seeded-bugs/load-worker.ts";
import type { SeededBug } from "../simulation/seeded-bugs/load-worker.ts";
import { search } from "./simulate/search.ts";

const MANY = [0, 999_999_999] as const;

const COMMAND = {
  name: "simulate",
  usage: "npm run simulate -- [options]",
  about: "Runs every schedule within a bound, then random ones, on the real lib/.",
  options: {
    depth: integer("N", "every schedule of the small scenarios with at most N faults", MANY, 1),
    seeds: integer("N", "then N random schedules beyond them", MANY, 100_000),
    from: integer("N", "the first seed", MANY, 0),
    faults: integer("N", "faults at most in a random schedule", MANY, 6),
    outcomes: flag("with the outcome publisher and the finalizer, instead of the worker alone"),
    orders: flag("with the door and the fulfillment of orders too"),
    "random-only": flag("leaves the small scenarios out"),
    threads: integer("N", "threads", [1, 999], availableParallelism()),
    seed: integer("N", "prints one random schedule", MANY),
    replay: text("CODE", "prints one schedule by its code"),
    shrink: flag("makes that schedule shorter first, if it breaks a rule"),
    bug: text("NAME", "runs lib/ with one of the bugs in simulation/seeded-bugs"),
  },
  notes: "Exit status 0 when no rule was broken, 1 when one was.",
};

await runCommand(async () => {
  const { values } = readArguments(COMMAND);
  const { depth, from, seeds, threads, faults, seed, replay, shrink: shrinks } = values;
  const alone = values.outcomes ? "random outcomes" : "random";
  const family = values.orders ? "random orders" : alone;
  const bug = bugNamed(values.bug);
  if (seed !== undefined || replay !== undefined) {
    await print({ code: replay, seed: seed ?? 0, faults, shrinks, bug, family });
    return;
  }
  const bound = values["random-only"] ? undefined : depth;
  await search({ depth: bound, from, seeds, threads, faults, bug, family });
});

function bugNamed(name: string | undefined): SeededBug | undefined {
  const bug = SEEDED_BUGS.find((one) => one.name === name);
  if (name === undefined || bug) return bug;
  const names = SEEDED_BUGS.map((one) => `  ${one.name}`).join("\n");
  throw new UsageError(`--bug "${name}" is none of these:\n${names}`);
}

type Printing = {
  code: string | undefined;
  seed: number;
  faults: number;
  shrinks: boolean;
  family: Family;
  bug: SeededBug | undefined;
};

/** Prints one schedule. */
async function print({ code, seed, faults, shrinks, bug, family }: Printing): Promise<void> {
  const run = createRunner(await loadWorker(bug));
  const given = code === undefined ? await scheduleOfSeed(run, seed, faults, family) : read(code);
  const schedule = shrinks ? await shrink(run, given, bug?.shows) : given;
  const { violation, text } = await trace(run, schedule, bug?.shows);
  console.log(`${text}\n`);
  console.log(violation ? codeOf(schedule) : "No rule is broken.");
  if (violation) process.exitCode = 1;
}

function read(code: string): ReturnType<typeof scheduleOf> {
  try {
    return scheduleOf(code);
  } catch (error) {
    throw new UsageError((error as Error).message, { cause: error });
  }
}
