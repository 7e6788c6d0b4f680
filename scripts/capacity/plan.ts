// What a load of payments needs, what it costs, and how much the settings can carry.

import { slowestMs } from "../../lib/timing/latency.ts";
import type { Latency } from "../../lib/timing/latency.ts";
import { PRICES } from "./prices.ts";

export type Load = {
  /** Payments per second. */
  rate: number;
  /** How long Stripe takes for a charge. */
  latency: Latency;
  /** PaymentIntents per second that Stripe allows. */
  stripePerSecond: number;
  /** Messages that arrive again after their outcome, as a share of the payments. */
  duplicates: number;
  /** Charges that fail once and are tried again, as a share of the payments. */
  retries: number;
  /** How long a batch may gather, in ms. */
  windowMs: number;
};

export type Plan = {
  batchSize: number;
  /** The event source's `maxConcurrency`, over all event sources. */
  concurrency: number;
  memoryMb: number;
  /** Duration of a full batch, in ms. */
  batchMs: number;
  /** How many messages a batch has at this load, on average. */
  filled: number;
  /** Payments per second that these settings carry. */
  sustained: number;
  writeUnitsPerSecond: number;
  costs: Costs;
};

// A test measures the first two at the worker itself.
export const LOG_LINE_BYTES = 750; // of a delivery
export const ITEM_BYTES = 365; // of a payment whose message id is a UUID

const ITEM_OVERHEAD_BYTES = 100; // https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/CapacityUnitCalculations.html
// On the safe side: twice what `npm run bench` measures in a warm worker here.
export const CPU_MS_PER_MESSAGE = 2.5;
export const TABLE_CALL_MS = 5; // an assumption: AWS says single-digit ms
export const FULL_CPU_MB = 1_769; // https://docs.aws.amazon.com/lambda/latest/dg/configuration-memory.html
// Less than the first of them leaves a batch no room beside Node.
const MEMORIES_MB = [256, 512, 1_024, FULL_CPU_MB];
export const RECORD_LIFE_MONTHS = 35 / 30;
const SECRET_CACHE_SECONDS = 300;
// The rest of Stripe's rate is for the other users of the account.
const SHARE_OF_STRIPE = 0.8;
// The slots that a load needs on average are too few for it: arrivals come in clusters.
const HEADROOM = 1.15;
const LEAST_CONCURRENCY = 2; // of an event source
const MOST_IN_A_RECEIVE = 10; // more in a batch needs a window

/** The cheapest settings that carry a load. A load above `sustained` waits in the queue. */
export function planFor(load: Load): Plan {
  const sizes = Array.from({ length: MOST_IN_A_RECEIVE }, (_, index) => index + 1);
  const plans = sizes.map((batchSize) => planOf(load, batchSize, concurrencyFor(load, batchSize)));
  const needed = Math.min(
    HEADROOM * load.rate,
    Math.max(...plans.map(({ sustained }) => sustained)),
  );
  return plans
    .filter(({ sustained }) => sustained >= needed)
    .reduce((best, plan) => (isBetter(plan, best) ? plan : best));
}

/** Cheaper by a cent or more; if not, carrying more. */
function isBetter(plan: Plan, best: Plan): boolean {
  const cents = Math.round(100 * totalOf(plan)) - Math.round(100 * totalOf(best));
  return cents < 0 || (cents === 0 && plan.sustained > best.sustained);
}

/** What the load needs, as far as Stripe allows it. */
export function concurrencyFor(load: Load, batchSize: number): number {
  const { rate, retries, stripePerSecond } = load;
  const { batchMs } = planOf(load, batchSize, 1);
  const batches = (charges: number) => (charges * batchMs) / 1_000 / batchSize;
  const needed = Math.ceil(batches(HEADROOM * rate * (1 + retries)));
  const allowed = Math.floor(
    Math.min(
      batches(SHARE_OF_STRIPE * stripePerSecond),
      // After a pause all batches start together. Where that many are too few, some are answered 429.
      Math.max(stripePerSecond / batchSize, batches(rate * (1 + retries))),
    ),
  );
  return Math.max(LEAST_CONCURRENCY, Math.min(needed, allowed));
}

/** What these settings make of the load. */
export function planOf(load: Load, batchSize: number, concurrency: number, mb?: number): Plan {
  const { rate, latency, duplicates, retries, windowMs } = load;
  const memoryMb = mb ?? memoryFor(batchSize, latency);
  const batchMs = durationMs(batchSize, latency, memoryMb);
  const filled = filledBy(
    rate * (1 + duplicates + retries),
    windowMs,
    batchSize,
    (size) => durationMs(size, latency, memoryMb) / concurrency,
  );
  const invocationMs = durationMs(filled, latency, memoryMb);
  return {
    batchSize,
    concurrency,
    memoryMb,
    batchMs,
    filled,
    sustained: (concurrency * batchSize * 1_000) / batchMs / (1 + retries),
    writeUnitsPerSecond: rate * unitsOf(load),
    costs: costsOf(load, { concurrency, memoryMb, filled, invocationMs }),
  };
}

/** Dollars per million payments, by service. */
export type Costs = Record<"Lambda" | "DynamoDB" | "SQS" | "Logs" | "Secrets Manager", number>;

/** @param made the batches of this load: how many messages each has, and how many ms it takes */
export function costsOf(
  load: Load,
  made: Pick<Plan, "concurrency" | "memoryMb" | "filled"> & { invocationMs: number },
): Costs {
  const { rate, duplicates, retries } = load;
  const messages = 1 + duplicates + retries;
  const invocations = messages / made.filled;
  const gbSeconds = (invocations * made.invocationMs * made.memoryMb) / 1_024 / 1_000;
  return {
    Lambda: invocations * PRICES.lambdaMillionRequests + 1e6 * gbSeconds * PRICES.lambdaGbSecond,
    DynamoDB:
      unitsOf(load) * PRICES.dynamoDbMillionWriteUnits +
      ((ITEM_BYTES + ITEM_OVERHEAD_BYTES) / 1_000) * RECORD_LIFE_MONTHS * PRICES.dynamoDbGbMonth,
    // One request sends, receives or deletes up to ten messages; a retry sets its visibility.
    SQS: (1 + duplicates + 2 * invocations + retries) * PRICES.sqsMillionRequests,
    Logs: logsCost(messages * LOG_LINE_BYTES),
    "Secrets Manager":
      (made.concurrency / SECRET_CACHE_SECONDS / rate) * PRICES.secretsMillionCalls,
  };
}

/** A delivery claims and completes; a duplicate fails to claim; a retry releases before, and fails to
 * claim and takes over after. */
function unitsOf({ duplicates, retries }: Load): number {
  return 2 + duplicates + 3 * retries;
}

export function totalOf({ costs }: { costs: Costs }): number {
  return Object.values(costs).reduce((sum, cost) => sum + cost, 0);
}

/** Dollars per million of what writes so many bytes in so many invocations. */
export function logsCost(bytes: number): number {
  return (bytes / 1_000) * PRICES.logsGb;
}

/**
 * Messages in a batch on average: those that come while the earlier batches run, or within the window.
 *
 * @param everyMs how often a slot is free for the next batch, when batches have this size
 */
function filledBy(
  messagesPerSecond: number,
  windowMs: number,
  batchSize: number,
  everyMs: (size: number) => number,
): number {
  const gathered = windowMs > 0 ? 1 + (messagesPerSecond * windowMs) / 1_000 : 1;
  const least = Math.min(batchSize, gathered);
  // Grows to where as many come as are taken.
  for (let size = 1; ;) {
    const before = size;
    size = clamp((messagesPerSecond * everyMs(size)) / 1_000, least, batchSize);
    if (size - before < 0.01) return size;
  }
}

/** The least memory with which the CPU's part of a batch is at most a fifth of it. */
function memoryFor(batchSize: number, latency: Latency): number {
  const enough = (mb: number) => cpuMs(batchSize, mb) <= 0.2 * durationMs(batchSize, latency, mb);
  return MEMORIES_MB.find(enough) ?? FULL_CPU_MB;
}

/** On average: one charge waits for the CPU that half of the others use. */
function durationMs(messages: number, latency: Latency, memoryMb: number): number {
  return 2 * TABLE_CALL_MS + slowestMs(latency, messages) + cpuMs((messages + 1) / 2, memoryMb);
}

export function cpuMs(messages: number, memoryMb: number): number {
  return (messages * CPU_MS_PER_MESSAGE * FULL_CPU_MB) / memoryMb;
}

export function clamp(value: number, least: number, most: number): number {
  return Math.min(most, Math.max(least, value));
}
