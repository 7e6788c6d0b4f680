// The alarms of npm start: those of a deployment, evaluated over the local stack.
import { execFile } from "node:child_process";
import { constants, setPriority } from "node:os";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

import { startAlarms } from "../local/alarms/alarms.ts";
import type { Alarms } from "../local/alarms/alarms.ts";
import type { AlarmDefinition } from "../local/alarms/definition.ts";
import type { Stack } from "../local/stack.ts";

/** AWS's seconds for one of this machine's, as the timings of local/payment-worker.ts are shorter. */
const SPEED = 10;

/** Begins once the definitions are there, which are synthesized in a process of its own: it takes seconds. */
export function startLocalAlarms(stack: Stack): Alarms {
  const script = fileURLToPath(new URL("alarm-definitions.ts", import.meta.url));
  const synthesis = promisify(execFile)(process.execPath, [script], { maxBuffer: 2 ** 24 });
  const { child } = synthesis;
  setPriority(child.pid ?? 0, constants.priority.PRIORITY_LOW);
  const alarms = synthesis.then(
    ({ stdout }) => startAlarms(stack, evaluatedHere(stack, JSON.parse(stdout) as []), SPEED),
    () => undefined, // interrupted
  );
  return {
    states: async () => (await alarms)?.states() ?? [],
    stop() {
      child.kill();
      void alarms.then((started) => started?.stop());
    },
  };
}

/** No laptop has traffic all the time, and a function that does not run here is not overdue. */
function evaluatedHere({ functions }: Stack, all: readonly AlarmDefinition[]): AlarmDefinition[] {
  const reconciles = functions.some(({ name }) => name === "reconciliation");
  return all.filter(
    ({ name, missing }) => name !== "NoTraffic" && (reconciles || missing !== "breaching"),
  );
}
