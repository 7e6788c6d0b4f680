// A function's execution environment: the real handler, with clients whose every request waits for
// the scheduler.

import type { Worker } from "../seeded-bugs/load-worker.ts";
import { createClients } from "./clients.ts";
import type { Current } from "./clients.ts";
import { FUNCTIONS } from "./functions.ts";
import type { Invocation, Role } from "./invocation.ts";
import type { World } from "./world.ts";

export type ExecutionEnvironment = {
  /** Runs the handler, to the messages that failed; never settles once its invocation is dead. */
  invoke: (world: World, invocation: Invocation) => Promise<readonly string[]>;
};

/** The least, a middling and the most that a random number of the handler can be. */
const JITTER = [0, 0.5, 0.999];

/** Gets a handler's log lines. */
export type OnLine = (world: World, invocation: Invocation, line: Record<string, unknown>) => void;

/** One environment, used by one invocation at a time. */
export function createEnvironment(
  role: Role,
  worker: Worker,
  onLine: OnLine,
): ExecutionEnvironment {
  let current: Current;
  const run = FUNCTIONS[role](worker, {
    clients: createClients(() => current),
    current: () => current,
    now: () => current.world.now + (current.world.scenario.clocks[current.invocation.slot] ?? 0),
    random: () => JITTER[current.world.vary(JITTER.length)] ?? 0,
    write: (line) => onLine(current.world, current.invocation, line),
  });
  return {
    invoke(world, invocation) {
      current = { world, invocation };
      return run(current);
    },
  };
}
