// npm run simulate: every schedule within a bound, then random ones, on the real lib/.
import { availableParallelism } from "node:os";

import { readArguments, runCommand, UsageError } from "../cli/terminal/command.ts";
import { codeOf, scheduleOf, scheduleOfSeed, trace } from "../simulation/search/replay.ts";
import { createRunner } from "../simulation/search/schedule.ts";
import { shrink } from "../simulation/search/shrink.ts";
import { SEEDED_BUGS } from "../simulation/seeded-bugs.ts";
import { loadWorker } from "../simulation/seeded-bugs/load-worker.ts";
import type { SeededBug } from "../simulation/seeded-bugs/load-worker.ts";
import { search } from "./simulate/search.ts";

const HELP = `
npm run simulate -- [options]

  --depth N        every schedule of the small scenarios with at most N faults (1)
  --seeds N        and N random schedules beyond them (100000)
  --from N         the first seed (0)
  --faults N       faults at most in a random schedule (6)
  --random-only    leaves the small scenarios out
  --threads N      (one for each processor)

  --seed N         prints one random schedule
  --replay CODE    prints one schedule by its code
  --shrink         makes that schedule shorter first, if it breaks a rule
  --bug NAME       with one of the bugs of simulation/seeded-bugs.ts in lib/

Exit status 0 when no rule was broken, 1 when one was.
`;

await runCommand(async () => {
  const { values } = readArguments(HELP, {
    depth: { type: "string", default: "1" },
    seeds: { type: "string", default: "100000" },
    from: { type: "string", default: "0" },
    faults: { type: "string", default: "6" },
    "random-only": { type: "boolean", default: false },
    threads: { type: "string", default: String(availableParallelism()) },
    seed: { type: "string" },
    replay: { type: "string" },
    shrink: { type: "boolean", default: false },
    bug: { type: "string" },
  });
  const bug = bugNamed(values.bug);
  const faults = integer("faults", values.faults);
  if (values.seed !== undefined || values.replay !== undefined) {
    const seed = integer("seed", values.seed ?? "0");
    await print({ code: values.replay, seed, faults, shrinks: values.shrink, bug });
    return;
  }
  await search({
    depth: values["random-only"] ? undefined : integer("depth", values.depth),
    from: integer("from", values.from),
    seeds: integer("seeds", values.seeds),
    threads: integer("threads", values.threads),
    faults,
    bug,
  });
});

function integer(name: string, value: string): number {
  if (!/^\d{1,9}$/.test(value))
    throw new UsageError(`--${name} must be a whole number, not ${value}.`);
  return Number(value);
}

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
  bug: SeededBug | undefined;
};

/** Prints one schedule. */
async function print({ code, seed, faults, shrinks, bug }: Printing): Promise<void> {
  const run = createRunner(await loadWorker(bug));
  const given = code === undefined ? await scheduleOfSeed(run, seed, faults) : read(code);
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
