// What every measurement shares: its settings, and variants that take turns, so that a machine that
// slows down slows them all.

import type { Latency, Servers } from "./servers.ts";
import type { Throttle } from "./throttle.ts";
import { VARIANTS } from "./variants.ts";
import type { Bundle, Variant } from "./variants.ts";

export const BATCH = 10;
export const REAL: Latency = { table: 4, stripe: 150 };
export const NONE: Latency = { table: 0, stripe: 0 };
export const MEMORIES_MB = [256, 512, 1769];
export const DUPLICATES = [0, 1, 5];
export const COLD_ROUNDS = 15;
export const WARM_UP = 60;
export const WARM_ROUNDS = 40;

export type Bench = {
  servers: Servers;
  bundles: Record<Variant, Bundle>;
  env: Record<string, string>;
  /** The same, with the servers' addresses over TLS. */
  tlsEnv: Record<string, string>;
  /** Absent where this user may not throttle. */
  throttle: Throttle | undefined;
};

export type PerVariant<T> = Record<Variant, T>;

export async function each<T>(run: (variant: Variant) => Promise<T> | T): Promise<PerVariant<T>> {
  const results: Partial<PerVariant<T>> = {};
  for (const variant of VARIANTS) results[variant] = await run(variant);
  return results as PerVariant<T>;
}

/** All variants once, each time beginning with another. */
export async function takeTurns(
  round: number,
  run: (variant: Variant) => Promise<void>,
): Promise<void> {
  for (let i = 0; i < VARIANTS.length; i++) {
    const variant = VARIANTS[(round + i) % VARIANTS.length];
    if (variant) await run(variant);
  }
}
