// A pause that ends early when what it is for is over.
import { setTimeout as sleep } from "node:timers/promises";

/** Resolves with true after `ms`, with false as soon as `signal` aborts. */
export async function pause(ms: number, signal: AbortSignal): Promise<boolean> {
  try {
    await sleep(ms, undefined, { signal });
    return true;
  } catch {
    return false;
  }
}
