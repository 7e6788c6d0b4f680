// Waiting for a condition, and for time to pass.
import { setTimeout as sleep } from "node:timers/promises";

import type { Stack } from "../../local/stack.ts";

/** Resolves with true once `condition` holds, with false when it does not within `timeoutMs`. */
export async function until(
  timeoutMs: number,
  condition: () => boolean | Promise<boolean>,
): Promise<boolean> {
  const giveUpAt = performance.now() + timeoutMs;
  while (!(await condition())) {
    if (performance.now() > giveUpAt) return false;
    await sleep(5);
  }
  return true;
}

/** Resolves with true after `ms`, with false as soon as `signal` aborts. */
export async function pause(ms: number, signal: AbortSignal): Promise<boolean> {
  try {
    await sleep(ms, undefined, { signal });
    return true;
  } catch {
    return false;
  }
}

const DRAINED_MS = 300_000;

/** Resolves when no queue holds a message and nothing runs, after five minutes, or as soon as `signal` aborts. */
export async function drained(stack: Stack, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  const over = new Promise<void>((resolve) => {
    signal.addEventListener("abort", () => resolve(), { once: true });
  });
  await Promise.race([stack.drained(DRAINED_MS).catch(() => {}), over]);
}
