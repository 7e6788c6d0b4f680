// How long charges take, as an option of a command.
import { number } from "../../cli/terminal/arguments.ts";
import { UsageError } from "../../cli/terminal/command.ts";
import type { Latency } from "../../lib/timing/latency.ts";
import { DEFAULT_TIMINGS } from "../../lib/timing/payments.ts";

const MS = [1, 20_000] as const;

export const LATENCY_OPTIONS = {
  latency: number(
    "MS",
    "ms that half of the charges take at Stripe at most",
    MS,
    DEFAULT_TIMINGS.apiLatencyMs,
  ),
  p99: number(
    "MS",
    "ms that 99 % of the charges take at most",
    MS,
    DEFAULT_TIMINGS.apiLatencyP99Ms,
  ),
};

/** @throws UsageError */
export function readLatency({ latency, p99 }: { latency: number; p99: number }): Latency {
  if (p99 >= latency) return { medianMs: latency, p99Ms: p99 };
  throw new UsageError(`--p99 (${p99}) must not be below --latency, the median (${latency}).`);
}
