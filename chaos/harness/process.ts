// What can be done to a worker's process from outside.
import { until } from "./wait.ts";

// A stopped process does not notice that its parent has gone.
const frozen = new Set<number>();
process.on("exit", () => {
  for (const pid of frozen) signal(pid, "SIGKILL");
});

/** Stops it where it is: its timers do not run, its sockets stay open. */
export function freeze(pid: number): void {
  if (signal(pid, "SIGSTOP")) frozen.add(pid);
}

export function thaw(pid: number): void {
  frozen.delete(pid);
  signal(pid, "SIGCONT");
}

/** SIGKILL. True when the process was there, and is no more. */
export async function kill(pid: number): Promise<boolean> {
  const killed = signal(pid, "SIGKILL");
  frozen.delete(pid);
  return killed && (await until(5_000, () => !signal(pid, 0)));
}

/** False when there is no such process. */
function signal(pid: number, name: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(pid, name);
  } catch {
    return false;
  }
}
