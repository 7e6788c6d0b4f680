// Runs the schedule of each seeded bug: on lib/ with the bug in it, and on lib/ as it is.
import { parentPort } from "node:worker_threads";

import type { Rule } from "../../simulation/checkers/rules.ts";
import { scheduleOf, trace } from "../../simulation/search/replay.ts";
import { createRunner } from "../../simulation/search/schedule.ts";
import { SEEDED_BUGS } from "../../simulation/seeded-bugs.ts";
import { loadWorker } from "../../simulation/seeded-bugs/load-worker.ts";
import type { Shown } from "../../simulation/seeded-bugs/what-breaks.ts";

export type Caught = {
  name: string;
  withBug?: Shown;
  /** The rule that the real code breaks in the same schedule. */
  real?: Rule;
};

const real = createRunner(await loadWorker());
const caught: Caught[] = [];
for (const bug of SEEDED_BUGS) {
  const { code } = bug;
  if (code === undefined) continue;
  const schedule = scheduleOf(code);
  const { violation, text } = await trace(createRunner(await loadWorker(bug)), schedule, bug.shows);
  const { violation: without } = await trace(real, schedule);
  caught.push({
    name: bug.name,
    ...(violation && { withBug: { bug, code, rule: violation.rule, trace: text } }),
    ...(without && { real: without.rule }),
  });
}
parentPort?.postMessage(caught);
