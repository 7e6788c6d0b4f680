// What settings make of a load in the simulated queue, side by side.

import { sigmaOf } from "../../lib/timing/latency.ts";
import type { Latency } from "../../lib/timing/latency.ts";
import { seededRandom, standardNormal } from "../../simulation/search/random.ts";
import {
  clamp,
  concurrencyFor,
  costsOf,
  CPU_MS_PER_MESSAGE,
  FULL_CPU_MB,
  planOf,
  TABLE_CALL_MS,
  totalOf,
} from "./plan.ts";
import type { Load, Plan } from "./plan.ts";
import { simulate } from "./queue-simulation.ts";
import type { Outcome } from "./queue-simulation.ts";

/** How a request of this latency may turn out, in ms. */
export function drawLatencyMs(latency: Latency, random: () => number): number {
  return latency.medianMs * Math.exp(sigmaOf(latency) * standardNormal(random));
}

/** Arrivals by chance, as independent senders make them, in ms. */
export function arrivals(rate: number, count: number, random: () => number): number[] {
  let at = 0;
  return Array.from({ length: count }, () => (at += (-Math.log(1 - random()) * 1_000) / rate));
}

/** `times` are ms in ascending order. */
export function simulatePlan(
  load: Load,
  plan: Pick<Plan, "batchSize" | "concurrency" | "memoryMb">,
  times: readonly number[],
  random: () => number,
): Outcome {
  const { batchSize, concurrency, memoryMb } = plan;
  const setting = {
    batchSize,
    concurrency,
    windowMs: load.windowMs,
    cpuMsPerMessage: (CPU_MS_PER_MESSAGE * FULL_CPU_MB) / memoryMb,
    tableCallMs: TABLE_CALL_MS,
    drawLatencyMs: () => drawLatencyMs(load.latency, random),
    stripePerSecond: load.stripePerSecond,
  };
  return simulate(setting, times, random);
}

export type Compared = Plan & {
  /** Dollars per million payments, with the batches that the simulation made. */
  cost: number;
  /** Payments per second that a slot made while it was busy. */
  perSlot: number;
  waitMs: Outcome["waitMs"];
};

const SIZES = [1, 2, 4, 6, 8, 10];
/** Ten seconds of a high rate: the first batches find the slots empty. */
const messagesAt = (rate: number): number => clamp(10 * rate, 10_000, 50_000);

/** The plan and other batch sizes, each with the slots that it needs, cheapest first. */
export function compare(load: Load, plan: Plan): Compared[] {
  const others = SIZES.filter((size) => size !== plan.batchSize).map((size) =>
    planOf(load, size, concurrencyFor(load, size)),
  );
  return [plan, ...others].map((one) => simulated(load, one)).toSorted((a, b) => a.cost - b.cost);
}

/** One of them. */
export function simulated(load: Load, plan: Plan): Compared {
  const random = seededRandom(1);
  const messages = load.rate * (1 + load.duplicates + load.retries);
  const outcome = simulatePlan(
    load,
    plan,
    arrivals(messages, messagesAt(messages), random),
    random,
  );
  const { charged, batches, busyMs, waitMs } = outcome;
  const made = { ...plan, filled: charged / batches, invocationMs: busyMs / batches };
  return {
    ...plan,
    cost: totalOf({ costs: costsOf(load, made) }),
    perSlot: (charged * 1_000) / busyMs,
    waitMs,
  };
}
