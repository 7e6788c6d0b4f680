import { expect, test } from "vitest";

import {
  backoffCeilingMs,
  DEFAULT_TIMINGS,
  DEFAULT_WORKER_TIMINGS,
  shortestOutageCoveredMs,
  timingVariables,
  violations,
  workerViolations,
} from "../lib/timing.ts";
import type { Timings } from "../lib/timing.ts";

const SECOND = 1_000;
const DAY = 86_400_000;

test("the defaults break no rule", () => {
  expect(violations(DEFAULT_TIMINGS)).toEqual([]);
  expect(workerViolations(DEFAULT_WORKER_TIMINGS)).toEqual([]);
});

// Each rule with a value on its edge that keeps it, and the next one that breaks it.
const edges: [rule: string, kept: Partial<Timings>, broken: Partial<Timings>][] = [
  ["finite-number", { clockSkewMs: 0 }, { clockSkewMs: Number.NaN }],
  ["key-window", { keyWindowMs: 86_375_000 }, { keyWindowMs: 86_375_001 }],
  ["record-ttl-covers-age", { recordTtlMs: 31 * DAY + 5_000 }, { recordTtlMs: 31 * DAY + 4_999 }],
  ["backoff-order", { backoffBaseMs: 900_000 }, { backoffBaseMs: 900_001 }],
  ["backoff-order", { backoffBaseMs: 1_000, maxReceiveCount: 30 }, { backoffBaseMs: 999 }],
  ["function-timeout", { functionTimeoutMs: 57_001 }, { functionTimeoutMs: 57_000 }],
  ["function-timeout", { stripeTimeoutMs: 21_499 }, { stripeTimeoutMs: 21_500 }],
  ["visibility-aws", { visibilityTimeoutMs: 360_000 }, { visibilityTimeoutMs: 359_999 }],
  ["visibility-aws", { batchWindowMs: 0 }, { batchWindowMs: 1_000 }],
  [
    "lease-within-visibility",
    { clockSkewMs: 300_000, keyWindowMs: 22 * 3_600_000 },
    { clockSkewMs: 300_001, keyWindowMs: 22 * 3_600_000 },
  ],
  ["memory-outlives-redelivery", { maxMessageAgeMs: 25 * DAY }, { maxMessageAgeMs: 25 * DAY - 1 }],
  [
    "dead-letter-retention",
    { queueRetentionMs: 4 * DAY, deadLetterRetentionMs: 4 * DAY + 1 },
    { queueRetentionMs: 4 * DAY, deadLetterRetentionMs: 4 * DAY },
  ],
  [
    "dead-letter-before-retention",
    { queueRetentionMs: 12_600_000 },
    { queueRetentionMs: 12_599_999 },
  ],
  ["outage", { outageMs: 4_065_000 }, { outageMs: 4_065_001 }],
  ["receive-count", { maxReceiveCount: 5, outageMs: 0 }, { maxReceiveCount: 4, outageMs: 0 }],
  ["reserved-concurrency", { reservedConcurrency: 2 }, { reservedConcurrency: 1 }],
  ["event-source-limits", { batchSize: 1 }, { batchSize: 0 }],
  ["event-source-limits", { eventSourceConcurrency: 2 }, { eventSourceConcurrency: 1 }],
  ["stripe-rate", { chargeLatencyMs: 400 }, { chargeLatencyMs: 399 }],
];

test.each(edges)("%s is kept at its edge and broken beyond it", (rule, kept, broken) => {
  expect(violations({ ...DEFAULT_TIMINGS, ...kept })).toEqual([]);

  const sentences = violations({ ...DEFAULT_TIMINGS, ...broken });

  expect(sentences.filter((sentence) => sentence.startsWith(`${rule}: `))).toHaveLength(1);
});

test("a broken rule is told with the numbers and the fix", () => {
  const [sentence] = violations({ ...DEFAULT_TIMINGS, visibilityTimeoutMs: 30 * SECOND });

  expect(sentence).toBe(
    "visibility-aws: the visibility timeout (30 s) must be at least 6 × the function timeout plus the batch window (360 s), AWS's rule for event sources, and at most 12 h; raise visibilityTimeoutMs.",
  );
});

test("a function with less concurrency than its event source is refused", () => {
  const sentences = violations({
    ...DEFAULT_TIMINGS,
    eventSourceConcurrency: 5,
    batchSize: 2,
    reservedConcurrency: 2,
  });

  expect(sentences).toEqual([
    "reserved-concurrency: the function's reserved concurrency (2) must be at least the event source's (5), or throttled batches use up their receives unseen; raise reservedConcurrency.",
  ]);
});

test("the back-off doubles from its base to its cap", () => {
  const ceilings = [1, 2, 3, 4, 5, 6, 7, 1_000].map((n) => backoffCeilingMs(DEFAULT_TIMINGS, n));

  expect(ceilings).toEqual([30_000, 60_000, 120_000, 240_000, 480_000, 900_000, 900_000, 900_000]);
});

test("fourteen receives keep a message out of the dead-letter queue for over an hour", () => {
  expect(shortestOutageCoveredMs(DEFAULT_TIMINGS)).toBe(4_065_000);
});

test("the worker's timings are variables in seconds", () => {
  expect(timingVariables({ ...DEFAULT_TIMINGS, callTimeoutMs: 500 })).toEqual({
    STRIPE_TIMEOUT_SECONDS: "20",
    CALL_TIMEOUT_SECONDS: "0.5",
    DEADLINE_RESERVE_SECONDS: "5",
    CLOCK_SKEW_SECONDS: "5",
    KEY_WINDOW_SECONDS: "82800",
    RECORD_TTL_SECONDS: "3024000",
    MAX_MESSAGE_AGE_SECONDS: "2592000",
    MAX_SENDER_AHEAD_SECONDS: "86400",
    BACKOFF_BASE_SECONDS: "30",
    BACKOFF_CAP_SECONDS: "900",
  });
});
