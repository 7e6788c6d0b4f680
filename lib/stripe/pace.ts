// Keeps a reconciliation's requests to Stripe far below its limit, which the payments need themselves.

import { setTimeout as sleep } from "node:timers/promises";

const TRIES = 8;
const LONGEST_PAUSE_MS = 60_000;

/** Runs a call when its turn has come, and again after a pause when Stripe answers 429. */
export type Pace = <T>(call: () => Promise<T>) => Promise<T>;

type Options = {
  signal?: AbortSignal;
  /** Waits, ms. */
  wait?: (ms: number) => Promise<void>;
};

/**
 * At most `perSecond` calls per second, over all that share this pace. A 429 makes all of them wait,
 * longer each time.
 * https://docs.stripe.com/rate-limits
 */
export function createPace(perSecond: number, { signal, wait }: Options = {}): Pace {
  const pause = wait ?? ((ms: number) => sleep(ms, undefined, signal && { signal }));
  let nextAt = 0;

  const turn = async (): Promise<void> => {
    const now = performance.now();
    const at = Math.max(nextAt, now);
    nextAt = at + 1_000 / perSecond;
    if (at > now) await pause(at - now);
  };

  return async (call) => {
    for (let tried = 1; ; tried += 1) {
      await turn();
      try {
        return await call();
      } catch (error) {
        if ((error as { statusCode?: number }).statusCode !== 429 || tried === TRIES) throw error;
        const pauseMs = Math.min(LONGEST_PAUSE_MS, 1_000 * 2 ** (tried - 1));
        nextAt = Math.max(nextAt, performance.now() + pauseMs);
      }
    }
  };
}
