// npm run what-breaks: for each seeded bug the shortest schedule in which it breaks a rule. Known
// schedules are run again; only where one no longer breaks a rule is a new one searched.

import { writeFile } from "node:fs/promises";

import { flag, readArguments } from "../cli/terminal/arguments.ts";
import { runCommand, UsageError } from "../cli/terminal/command.ts";
import { RULES } from "../simulation/checkers/rules.ts";
import { runTasks } from "../simulation/search/pool.ts";
import { FAMILIES, scheduleOf, trace } from "../simulation/search/replay.ts";
import { createRunner } from "../simulation/search/schedule.ts";
import { SEEDED_BUGS, writeCodes } from "../simulation/seeded-bugs.ts";
import { loadWorker } from "../simulation/seeded-bugs/load-worker.ts";
import type { SeededBug } from "../simulation/seeded-bugs/load-worker.ts";
import { MOST_TELLING, renderPage, renderSection } from "../simulation/seeded-bugs/what-breaks.ts";
import type { Shown } from "../simulation/seeded-bugs/what-breaks.ts";

const COMMAND = {
  name: "what-breaks",
  usage: "npm run what-breaks -- [--all | NAME] [--search]",
  about: `
Finds the schedules in which the seeded bugs break a rule; writes them to
simulation/seeded-bugs and the most telling ones to docs/what-breaks.md. With the
NAME of a bug, prints that one and its schedule, and writes nothing.`,
  options: {
    all: flag("prints every bug and its schedule, and writes nothing"),
    search: flag("searches every schedule again (about twenty minutes)"),
  },
  positionals: "bug's name",
};

const PAGE = new URL("../docs/what-breaks.md", import.meta.url);

// With faults, no schedule that a person would read is longer.
const MOST_STEPS = 80;

await runCommand(async () => {
  const { values, positionals } = readArguments(COMMAND);
  const prints = values.all || positionals.length > 0;
  const shown: Shown[] = [];
  for (const bug of values.all ? SEEDED_BUGS : named(positionals)) {
    const one = await show(bug, values.search ? undefined : bug.code);
    shown.push(one);
    console.log(prints ? renderSection(one) : `${bug.name}: ${RULES[one.rule]} (${one.code})`);
  }
  if (prints) return;
  writeCodes(new Map(shown.map(({ bug, code }) => [bug.name, code])));
  await writeFile(PAGE, renderPage(shown.filter(({ bug }) => MOST_TELLING.includes(bug.name))));
});

function named(names: readonly string[]): readonly SeededBug[] {
  const found = SEEDED_BUGS.filter(({ name }) => names.length === 0 || names.includes(name));
  if (found.length > 0) return found;
  const all = SEEDED_BUGS.map(({ name }) => `  ${name}`).join("\n");
  throw new UsageError(`"${names.join(" ")}" is none of these:\n${all}`);
}

async function show(bug: SeededBug, known: string | undefined): Promise<Shown> {
  const run = createRunner(await loadWorker(bug));
  for (const code of [known, () => shortest(bug)]) {
    if (code === undefined) continue;
    const tried = typeof code === "string" ? code : await code();
    const { violation, text } = await trace(run, scheduleOf(tried), bug.shows);
    if (violation) return { bug, code: tried, rule: violation.rule, trace: text };
  }
  throw new Error(`Bug! "${bug.name}" broke a rule in the search, and not when run again.`);
}

/** The code of the shortest schedule with the fewest faults. */
async function shortest({ name, shows, family }: SeededBug): Promise<string> {
  const { scenarios } = FAMILIES[family ?? "random"];
  for (const depth of [0, 1, 2]) {
    const tasks = scenarios(depth).map(({ name: scenario }) => ({
      kind: "explore" as const,
      scenario,
      depth,
      bug: name,
      only: shows,
      shortest: depth < 2,
      ...(depth > 0 && { mostSteps: MOST_STEPS }),
    }));
    const reports = await runTasks(tasks, {
      goesOn: ({ found }) => depth < 2 || found === undefined,
    });
    const found = tasks.flatMap(({ scenario }) => {
      const report = reports.find(
        ({ task }) => task.kind === "explore" && task.scenario === scenario,
      );
      return report?.found ?? [];
    });
    const [best] = found.toSorted((a, b) => a.steps - b.steps);
    if (best) return best.code;
  }
  throw new Error(`"${name}" breaks no rule with up to two faults: the simulation misses it.`);
}
