// What a load of payments needs, what it costs, and how much the settings can carry.

import { PRICES } from "./prices.ts";

export type Load = {
  /** Payments per second. */
  rate: number;
  /** How long Stripe takes for a charge, in ms. */
  latencyMs: number;
  /** PaymentIntents per second that Stripe allows. */
  stripePerSecond: number;
  /** Messages that arrive again after their outcome, as a share of the payments. */
  duplicates: number;
  /** Charges that fail once and are tried again, as a share of the payments. */
  retries: number;
};

export type Plan = {
  batchSize: number;
  /** The event source's `maxConcurrency`, over all event sources. */
  concurrency: number;
  memoryMb: number;
  /** Duration of a full batch, in ms. */
  batchMs: number;
  /** Payments per second that these settings carry. */
  sustained: number;
  writeUnitsPerSecond: number;
  /** Dollars per million payments, by service. */
  costs: Record<"Lambda" | "DynamoDB" | "SQS" | "Logs" | "Secrets Manager", number>;
};

// Measured by `npm run bench` and by the local servers.
export const TABLE_CALL_MS = 5;
const CPU_MS_PER_MESSAGE = 2.5;
export const LOG_LINE_BYTES = 900; // of a delivery
export const PLATFORM_LOG_BYTES = 1_200; // of an invocation: Lambda's own start and report lines
const ITEM_BYTES = 700; // with DynamoDB's overhead of 100

const FULL_CPU_MB = 1_769; // https://docs.aws.amazon.com/lambda/latest/dg/configuration-memory.html
const MEMORIES_MB = [512, 1_024, FULL_CPU_MB];
export const RECORD_LIFE_MONTHS = 35 / 30;
const SECRET_CACHE_SECONDS = 300;
// The rest of Stripe's rate is for the other users of the account, and for the charges that are
// faster than the usual one.
const SHARE_OF_STRIPE = 0.8;
// The slots that a load needs on average are too few for it: arrivals come in clusters.
const HEADROOM = 1.25;
// Below ten charges at once there is nothing to save.
const LEAST_AT_ONCE = 10;

/** The settings for a load. A load above `sustained` waits in the queue. */
export function planFor(load: Load): Plan {
  const { rate, latencyMs, stripePerSecond, duplicates, retries } = load;
  const chargesAllowed = (SHARE_OF_STRIPE * stripePerSecond * latencyMs) / 1_000;
  const atOnce = (ms: number) =>
    Math.max(LEAST_AT_ONCE, (HEADROOM * rate * (1 + retries) * ms) / 1_000);
  // Two batches at once is the least that an event source does.
  const batchSize = clamp(Math.floor(Math.min(chargesAllowed, atOnce(latencyMs)) / 2), 1, 10);
  const memoryMb = memoryFor(batchSize, latencyMs);
  const batchMs = durationMs(batchSize, latencyMs, memoryMb);

  const batchesNeeded = Math.ceil(atOnce(batchMs) / batchSize);
  const batchesAllowed = Math.floor(chargesAllowed / batchSize);
  const concurrency = Math.max(2, Math.min(batchesNeeded, batchesAllowed));
  const sustained = (concurrency * batchSize * 1_000) / batchMs / (1 + retries);

  // Idle pollers take a message as soon as it comes: batches are full only when all are busy.
  const messages = rate * (1 + duplicates + retries);
  const filled = clamp((messages * batchMs) / 1_000 / concurrency, 1, batchSize);
  const invocationsPerPayment = (1 + duplicates + retries) / filled;
  const invocationMs = durationMs(filled, latencyMs, memoryMb);
  // A delivery claims and completes; a duplicate fails to claim; a retry releases before, and
  // fails to claim and takes over after.
  const unitsPerPayment = 2 + duplicates + 3 * retries;
  return {
    batchSize,
    concurrency,
    memoryMb,
    batchMs,
    sustained,
    writeUnitsPerSecond: rate * unitsPerPayment,
    costs: {
      Lambda:
        invocationsPerPayment * PRICES.lambdaMillionRequests +
        1_000_000 *
          invocationsPerPayment *
          (invocationMs / 1_000) *
          (memoryMb / 1_024) *
          PRICES.lambdaGbSecond,
      DynamoDB:
        unitsPerPayment * PRICES.dynamoDbMillionWriteUnits +
        (ITEM_BYTES / 1_000) * RECORD_LIFE_MONTHS * PRICES.dynamoDbGbMonth,
      // One request sends, receives or deletes up to ten messages; a retry sets its visibility.
      SQS: (1 + duplicates + 2 * invocationsPerPayment + retries) * PRICES.sqsMillionRequests,
      Logs:
        ((1 + duplicates + retries) * (LOG_LINE_BYTES / 1_000) +
          invocationsPerPayment * (PLATFORM_LOG_BYTES / 1_000)) *
        PRICES.logsGb,
      "Secrets Manager": (concurrency / SECRET_CACHE_SECONDS / rate) * PRICES.secretsMillionCalls,
    },
  };
}

/** The least memory with which the CPU's part of a batch is at most a fifth of it. */
function memoryFor(batchSize: number, latencyMs: number): number {
  const enough = (mb: number) => cpuMs(batchSize, mb) <= 0.2 * durationMs(batchSize, latencyMs, mb);
  return MEMORIES_MB.find(enough) ?? FULL_CPU_MB;
}

function durationMs(messages: number, latencyMs: number, memoryMb: number): number {
  return 2 * TABLE_CALL_MS + latencyMs + cpuMs(messages, memoryMb);
}

export function cpuMs(messages: number, memoryMb: number): number {
  return (messages * CPU_MS_PER_MESSAGE * FULL_CPU_MB) / memoryMb;
}

export function clamp(value: number, least: number, most: number): number {
  return Math.min(most, Math.max(least, value));
}
