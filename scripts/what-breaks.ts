// npm run what-breaks: for each mistake of simulation/seeded-bugs.ts the shortest schedule that shows
// it, in docs/what-breaks.md. What is known is run again; only what no longer breaks is searched.

import { readFile, writeFile } from "node:fs/promises";

import { readArguments, runCommand } from "../cli/terminal/command.ts";
import type { Mistake } from "../simulation/load-worker.ts";
import { loadLibrary } from "../simulation/load-worker.ts";
import { exhaustivePlans } from "../simulation/plans.ts";
import { runTasks } from "../simulation/pool.ts";
import { scheduleOf, trace } from "../simulation/replay.ts";
import { RULES } from "../simulation/rules.ts";
import { createRunner } from "../simulation/schedule.ts";
import { SEEDED_BUGS } from "../simulation/seeded-bugs.ts";
import { renderWhatBreaks } from "../simulation/what-breaks.ts";
import type { Shown } from "../simulation/what-breaks.ts";

const HELP = `
npm run what-breaks -- [--search]

Writes docs/what-breaks.md and simulation/counterexamples.json. Known schedules are told again, and
a new one is searched where the known one breaks no rule any more; with --search, for every mistake
(some twenty minutes).
`;

const CODES = new URL("../simulation/counterexamples.json", import.meta.url);
const PAGE = new URL("../docs/what-breaks.md", import.meta.url);

// With faults, no schedule that a person would read is longer.
const MOST_STEPS = 60;

await runCommand(async () => {
  const { values } = readArguments(HELP, { search: { type: "boolean", default: false } });
  const known = values.search ? {} : await readCodes();
  const shown: Shown[] = [];
  for (const mistake of SEEDED_BUGS) {
    const one = await show(mistake, known[mistake.name]);
    shown.push(one);
    console.log(`${mistake.name}: ${RULES[one.rule]} (${one.code})`);
  }
  const codes = Object.fromEntries(shown.map(({ mistake, code }) => [mistake.name, code]));
  await writeFile(CODES, `${JSON.stringify(codes, undefined, 2)}\n`);
  await writeFile(PAGE, renderWhatBreaks(shown));
});

async function readCodes(): Promise<Record<string, string>> {
  return JSON.parse(await readFile(CODES, "utf8")) as Record<string, string>;
}

async function show(mistake: Mistake, known: string | undefined): Promise<Shown> {
  const run = createRunner(await loadLibrary(mistake));
  for (const code of [known, () => shortest(mistake)]) {
    if (code === undefined) continue;
    const tried = typeof code === "string" ? code : await code();
    const { violation, text } = await trace(run, scheduleOf(tried), mistake.shows);
    if (violation) return { mistake, code: tried, rule: violation.rule, trace: text };
  }
  throw new Error(`Bug! "${mistake.name}" broke a rule when it was searched, and not when told.`);
}

/** The code of the shortest schedule with the fewest faults. */
async function shortest({ name, shows }: Mistake): Promise<string> {
  for (const depth of [0, 1, 2]) {
    const taskOf = (plan: { name: string }) =>
      ({
        kind: "explore",
        plan: plan.name,
        depth,
        mistake: name,
        only: shows,
        shortest: depth < 2,
        ...(depth > 0 && { mostSteps: MOST_STEPS }),
      }) as const;
    const tasks = exhaustivePlans(depth).map(taskOf);
    const reports = await runTasks(tasks, {
      goesOn: ({ found }) => depth < 2 || found === undefined,
    });
    const found = tasks.flatMap(({ plan }) => {
      const report = reports.find(({ task }) => task.kind === "explore" && task.plan === plan);
      return report?.found ?? [];
    });
    const [best] = found.toSorted((a, b) => a.steps - b.steps);
    if (best) return best.code;
  }
  throw new Error(`"${name}" breaks no rule with up to two faults: the simulation misses it.`);
}
