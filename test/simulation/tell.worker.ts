// Tells the schedule of each mistake: on lib/ with the mistake in it, and on lib/ as it is.
import { parentPort, workerData } from "node:worker_threads";

import type { Rule } from "../../simulation/rules.ts";
import { loadLibrary } from "../../simulation/library.ts";
import { MISTAKES } from "../../simulation/mistakes.ts";
import { scheduleOf, trace } from "../../simulation/replay.ts";
import { createRunner } from "../../simulation/schedule.ts";

export type Told = {
  name: string;
  code: string;
  mistaken?: { rule: Rule; text: string };
  /** The rule that the real code breaks. */
  real?: Rule;
};

const codes = workerData as Record<string, string>;
const told: Told[] = [];
for (const mistake of MISTAKES) {
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
