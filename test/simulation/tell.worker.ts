// Tells the schedule of each mistake: on lib/ with the mistake in it, and on lib/ as it is.
import { parentPort, workerData } from "node:worker_threads";

import { loadLibrary } from "../../simulation/load-worker.ts";
import { scheduleOf, trace } from "../../simulation/replay.ts";
import type { Rule } from "../../simulation/rules.ts";
import { createRunner } from "../../simulation/schedule.ts";
import { SEEDED_BUGS } from "../../simulation/seeded-bugs.ts";

export type Told = {
  name: string;
  code: string;
  mistaken?: { rule: Rule; text: string };
  /** The rule that the real code breaks. */
  real?: Rule;
};

const codes = workerData as Record<string, string>;
const told: Told[] = [];
for (const mistake of SEEDED_BUGS) {
  const { name, shows } = mistake;
  const code = codes[name];
  if (code === undefined) continue;
  const mistaken = await trace(createRunner(await loadLibrary(mistake)), scheduleOf(code), shows);
  const real = await trace(createRunner(await loadLibrary()), scheduleOf(code));
  told.push({
    name,
    code,
    ...(mistaken.violation && {
      mistaken: { rule: mistaken.violation.rule, text: mistaken.text },
    }),
    ...(real.violation && { real: real.violation.rule }),
  });
}
parentPort?.postMessage(told);
