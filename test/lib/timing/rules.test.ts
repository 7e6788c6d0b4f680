import { expect, test } from "vitest";

import { backoffCeilingMs, shortestOutageCoveredMs } from "../../../lib/timing/backoff.ts";
import {
  DEFAULT_TIMINGS,
  DEFAULT_WORKER_TIMINGS,
  violations,
  workerViolations,
} from "../../../lib/timing/payments.ts";
import type { Timings } from "../../../lib/timing/payments.ts";
import { queueViolations, STRIPE_EVENT_TIMINGS } from "../../../lib/timing/queue.ts";
import { timingVariables } from "../../../lib/timing/variables.ts";
import { TIMINGS } from "../../support/timings.ts";

const HOUR = 3_600_000;
const DAY = 86_400_000;

test("the defaults break no rule", () => {
  expect(violations(DEFAULT_TIMINGS)).toEqual([]);
  expect(queueViolations(STRIPE_EVENT_TIMINGS)).toEqual([]);
  expect(workerViolations(DEFAULT_WORKER_TIMINGS)).toEqual([]);
});

test("the defaults are whole milliseconds", () => {
  const durations = Object.entries(DEFAULT_TIMINGS).filter(([name]) => name.endsWith("Ms"));

  expect(durations.filter(([, ms]) => !Number.isInteger(ms))).toEqual([]);
});

// Each rule with a value on its edge that keeps it, the next one that breaks it, and what is said then.
const edges: [kept: Partial<Timings>, broken: Partial<Timings>, sentence: string][] = [
  [
    { outageMs: 0 },
    { outageMs: -1 },
    "finite-number: outageMs is -1; it must be a number that is not negative.",
  ],
  [
    { clockSkewMs: 0 },
    { clockSkewMs: Number.NaN },
    "finite-number: clockSkewMs is NaN; it must be a number that is not negative.",
  ],
  [
    { apiLatencyP99Ms: 1_000_000 },
    { apiLatencyP99Ms: Infinity },
    "finite-number: apiLatencyP99Ms is Infinity; it must be a number that is not negative.",
  ],
  [
    { keyWindowMs: 86_075_000 },
    { keyWindowMs: 86_075_001 },
    "key-window: the key window (23.9097225 h) plus how far ahead a sender's time may be (300 s), the clock skew and one Stripe call must end within the 24 h that Stripe keeps an idempotency key; shorten keyWindowMs or maxSenderAheadMs.",
  ],
  [
    { recordTtlMs: 30 * DAY + 305_000 },
    { recordTtlMs: 30 * DAY + 304_999 },
    "record-ttl-covers-age: the record TTL (30.003530081018518 d) must be at least the greatest accepted message age (30 d) plus how far ahead a sender's time may be (300 s) plus the clock skew; raise recordTtlMs or lower maxMessageAgeMs.",
  ],
  [
    { backoffBaseMs: 900_000 },
    { backoffBaseMs: 900_001 },
    "backoff-order: the backoff must start at 1 s or more (900.001 s), not above its cap (900 s), and the cap must be at most 42000 s, because SQS counts its 12 h from the receive; change backoffBaseMs or backoffCapMs.",
  ],
  [
    { backoffBaseMs: 1_000, maxReceiveCount: 30 },
    { backoffBaseMs: 999, maxReceiveCount: 30 },
    "backoff-order: the backoff must start at 1 s or more (0.999 s), not above its cap (900 s), and the cap must be at most 42000 s, because SQS counts its 12 h from the receive; change backoffBaseMs or backoffCapMs.",
  ],
  [
    { backoffCapMs: 42_000_000, queueRetentionMs: 7 * DAY },
    { backoffCapMs: 42_000_001, queueRetentionMs: 8 * DAY },
    "backoff-order: the backoff must start at 1 s or more (30 s), not above its cap (42000.001 s), and the cap must be at most 42000 s, because SQS counts its 12 h from the receive; change backoffBaseMs or backoffCapMs.",
  ],
  [
    { stripeTimeoutMs: 100 },
    { stripeTimeoutMs: 99 },
    "time-to-answer: a Stripe call (0.099 s), a call to AWS (3 s) and the reserve (5 s) must each have at least 0.1 s, or nothing is ever charged; raise stripeTimeoutMs, callTimeoutMs or deadlineReserveMs.",
  ],
  [
    { callTimeoutMs: 100 },
    { callTimeoutMs: 99 },
    "time-to-answer: a Stripe call (20 s), a call to AWS (0.099 s) and the reserve (5 s) must each have at least 0.1 s, or nothing is ever charged; raise stripeTimeoutMs, callTimeoutMs or deadlineReserveMs.",
  ],
  [
    { deadlineReserveMs: 100 },
    { deadlineReserveMs: 99 },
    "time-to-answer: a Stripe call (20 s), a call to AWS (3 s) and the reserve (0.099 s) must each have at least 0.1 s, or nothing is ever charged; raise stripeTimeoutMs, callTimeoutMs or deadlineReserveMs.",
  ],
  [
    { functionTimeoutMs: 57_001 },
    { functionTimeoutMs: 57_000 },
    "slowest-delivery: the slowest delivery (4 calls × 3 s + 2 Stripe calls × 20 s + reserve 5 s = 57 s) must end before the function timeout (57 s); raise functionTimeoutMs or lower stripeTimeoutMs.",
  ],
  [
    { stripeTimeoutMs: 21_499 },
    { stripeTimeoutMs: 21_500 },
    "slowest-delivery: the slowest delivery (4 calls × 3 s + 2 Stripe calls × 21.5 s + reserve 5 s = 60 s) must end before the function timeout (60 s); raise functionTimeoutMs or lower stripeTimeoutMs.",
  ],
  [
    { functionTimeoutMs: 900_000, visibilityTimeoutMs: 5_400_000 },
    { functionTimeoutMs: 900_001, visibilityTimeoutMs: 5_400_006 },
    "function-timeout: the function timeout (900.001 s) must not exceed Lambda's limit of 900 s; lower functionTimeoutMs.",
  ],
  [
    { visibilityTimeoutMs: 360_000 },
    { visibilityTimeoutMs: 359_999 },
    "visibility-aws: the visibility timeout (359.999 s) must be at least 6 × the function timeout plus the batch window (360 s), AWS's rule for event sources, and at most 12 h; change visibilityTimeoutMs.",
  ],
  [
    { batchWindowMs: 1_000, visibilityTimeoutMs: 361_000 },
    { batchWindowMs: 1_000, visibilityTimeoutMs: 360_000 },
    "visibility-aws: the visibility timeout (360 s) must be at least 6 × the function timeout plus the batch window (361 s), AWS's rule for event sources, and at most 12 h; change visibilityTimeoutMs.",
  ],
  [
    { visibilityTimeoutMs: 12 * HOUR, queueRetentionMs: 7 * DAY },
    { visibilityTimeoutMs: 12 * HOUR + 1, queueRetentionMs: 8 * DAY },
    "visibility-aws: the visibility timeout (43200.001 s) must be at least 6 × the function timeout plus the batch window (360 s), AWS's rule for event sources, and at most 12 h; change visibilityTimeoutMs.",
  ],
  [
    { clockSkewMs: 300_000, keyWindowMs: 22 * HOUR },
    { clockSkewMs: 300_001, keyWindowMs: 22 * HOUR },
    "lease-within-visibility: the longest lease (function timeout 60 s + clock skew 300.001 s) after a full batch window (0 s) must end within the visibility timeout (360 s), or a redelivery finds it live; raise visibilityTimeoutMs.",
  ],
  [
    { maxMessageAgeMs: 25 * DAY },
    { maxMessageAgeMs: 25 * DAY - 1 },
    "deduplication-window: the record TTL (35 d) and the greatest accepted message age (24.999999988425927 d) must be at least queue retention (4 d) + dead-letter retention (14 d) + operator slack (7 d); raise recordTtlMs and maxMessageAgeMs.",
  ],
  [
    { deadLetterRetentionMs: 4 * DAY + 1 },
    { deadLetterRetentionMs: 4 * DAY },
    "dead-letter-retention: the dead-letter retention (4 d) must exceed the queue's (4 d), because a moved message keeps its enqueue time, and SQS allows at most 14 d; change deadLetterRetentionMs or queueRetentionMs.",
  ],
  [
    { deadLetterRetentionMs: 14 * DAY },
    { deadLetterRetentionMs: 14 * DAY + 1 },
    "dead-letter-retention: the dead-letter retention (14.000000011574073 d) must exceed the queue's (4 d), because a moved message keeps its enqueue time, and SQS allows at most 14 d; change deadLetterRetentionMs or queueRetentionMs.",
  ],
  [
    { queueRetentionMs: 12_600_000 },
    { queueRetentionMs: 12_599_999 },
    "dead-letter-before-retention: all 14 receives at their slowest (900 s each) must fit into the queue's retention (0.14583332175925925 d), or SQS deletes a message before it reaches the dead-letter queue; raise queueRetentionMs.",
  ],
  [
    { outageMs: 4_065_000 },
    { outageMs: 4_065_001 },
    "outage: 14 receives with this backoff cover an outage of 4065 s at the least, less than the 4065.001 s asked for; raise maxReceiveCount or backoffCapMs.",
  ],
  [
    { maxReceiveCount: 5, outageMs: 0 },
    { maxReceiveCount: 4, outageMs: 0 },
    "receive-count: maxReceiveCount (4) must be an integer from 5 to 1000: AWS asks for at least 5, so that throttling alone does not fill the dead-letter queue.",
  ],
  [
    { maxReceiveCount: 14 },
    { maxReceiveCount: 14.5 },
    "receive-count: maxReceiveCount (14.5) must be an integer from 5 to 1000: AWS asks for at least 5, so that throttling alone does not fill the dead-letter queue.",
  ],
  [
    { maxReceiveCount: 1_000, queueRetentionMs: 11 * DAY, maxMessageAgeMs: 32 * DAY },
    { maxReceiveCount: 1_001, queueRetentionMs: 11 * DAY, maxMessageAgeMs: 32 * DAY },
    "receive-count: maxReceiveCount (1001) must be an integer from 5 to 1000: AWS asks for at least 5, so that throttling alone does not fill the dead-letter queue.",
  ],
  [
    { reservedConcurrency: 2 },
    { reservedConcurrency: 1 },
    "reserved-concurrency: the function's reserved concurrency (1) must be at least the event source's (2), or throttled batches use up their receives unseen; raise reservedConcurrency.",
  ],
  [
    { eventSourceConcurrency: 2 },
    { eventSourceConcurrency: 1 },
    "event-source-limits: Lambda takes a concurrency of 2 to 1000 (1), a batch window of at most 300 s (0 s) and a batch size of 1 to 10, or to 400 with a window (5): a larger one takes more connections than Lambda has file descriptors; change these.",
  ],
  [
    { eventSourceConcurrency: 3, reservedConcurrency: 3, batchSize: 1 },
    { eventSourceConcurrency: 2.5, reservedConcurrency: 3, batchSize: 1 },
    "event-source-limits: Lambda takes a concurrency of 2 to 1000 (2.5), a batch window of at most 300 s (0 s) and a batch size of 1 to 10, or to 400 with a window (1): a larger one takes more connections than Lambda has file descriptors; change these.",
  ],
  [
    {
      eventSourceConcurrency: 1_000,
      reservedConcurrency: 1_000,
      batchSize: 1,
      apiRequestsPerSecond: 2_000,
    },
    {
      eventSourceConcurrency: 1_001,
      reservedConcurrency: 1_001,
      batchSize: 1,
      apiRequestsPerSecond: 4_000,
    },
    "event-source-limits: Lambda takes a concurrency of 2 to 1000 (1001), a batch window of at most 300 s (0 s) and a batch size of 1 to 10, or to 400 with a window (1): a larger one takes more connections than Lambda has file descriptors; change these.",
  ],
  [
    { batchSize: 1 },
    { batchSize: 0 },
    "event-source-limits: Lambda takes a concurrency of 2 to 1000 (2), a batch window of at most 300 s (0 s) and a batch size of 1 to 10, or to 400 with a window (0): a larger one takes more connections than Lambda has file descriptors; change these.",
  ],
  [
    { batchSize: 2 },
    { batchSize: 1.5 },
    "event-source-limits: Lambda takes a concurrency of 2 to 1000 (2), a batch window of at most 300 s (0 s) and a batch size of 1 to 10, or to 400 with a window (1.5): a larger one takes more connections than Lambda has file descriptors; change these.",
  ],
  [
    { batchSize: 10, apiRequestsPerSecond: 40 },
    { batchSize: 11, apiRequestsPerSecond: 100 },
    "event-source-limits: Lambda takes a concurrency of 2 to 1000 (2), a batch window of at most 300 s (0 s) and a batch size of 1 to 10, or to 400 with a window (11): a larger one takes more connections than Lambda has file descriptors; change these.",
  ],
  [
    {
      batchSize: 400,
      batchWindowMs: 1_000,
      visibilityTimeoutMs: 361_000,
      apiRequestsPerSecond: 2_000,
    },
    {
      batchSize: 401,
      batchWindowMs: 1_000,
      visibilityTimeoutMs: 361_000,
      apiRequestsPerSecond: 4_000,
    },
    "event-source-limits: Lambda takes a concurrency of 2 to 1000 (2), a batch window of at most 300 s (1 s) and a batch size of 1 to 10, or to 400 with a window (401): a larger one takes more connections than Lambda has file descriptors; change these.",
  ],
  [
    { batchWindowMs: 300_000, visibilityTimeoutMs: 660_000 },
    { batchWindowMs: 300_001, visibilityTimeoutMs: 660_001 },
    "event-source-limits: Lambda takes a concurrency of 2 to 1000 (2), a batch window of at most 300 s (300.001 s) and a batch size of 1 to 10, or to 400 with a window (5): a larger one takes more connections than Lambda has file descriptors; change these.",
  ],
  [
    { apiLatencyMs: 400, apiLatencyP99Ms: 400 },
    { apiLatencyMs: 399, apiLatencyP99Ms: 399 },
    "api-rate: batch size × concurrency (5 × 2) make 25.1 requests per second, when each batch waits for its slowest (0.399 s), which is above the API's rate (25/s): it answers 429; lower batchSize or eventSourceConcurrency, or ask for a higher rate.",
  ],
  [
    // The slowest of five takes 0.652 s on average, not 0.3 s.
    { apiLatencyMs: 300, apiLatencyP99Ms: 1_200, apiRequestsPerSecond: 16 },
    { apiLatencyMs: 300, apiLatencyP99Ms: 1_200, apiRequestsPerSecond: 15 },
    "api-rate: batch size × concurrency (5 × 2) make 15.3 requests per second, when each batch waits for its slowest (0.652 s), which is above the API's rate (15/s): it answers 429; lower batchSize or eventSourceConcurrency, or ask for a higher rate.",
  ],
  [
    { apiLatencyMs: 1, apiLatencyP99Ms: 1, apiRequestsPerSecond: 10_000 },
    { apiLatencyMs: 0, apiLatencyP99Ms: 1, apiRequestsPerSecond: 10_000 },
    "api-latency: the API's median latency (0 s) must be above 0 and not above its 99th percentile (0.001 s); change apiLatencyMs or apiLatencyP99Ms.",
  ],
  [
    { apiLatencyMs: 500 },
    { apiLatencyMs: 501 },
    "api-latency: the API's median latency (0.501 s) must be above 0 and not above its 99th percentile (0.5 s); change apiLatencyMs or apiLatencyP99Ms.",
  ],
];

test.each(edges)("%j keeps its rule at the edge, and %j breaks it", (kept, broken, sentence) => {
  expect(violations({ ...TIMINGS, ...kept })).toEqual([]);

  expect(violations({ ...TIMINGS, ...broken })).toContain(sentence);
});

test("a function with less concurrency than its event source is invalid", () => {
  const sentences = violations({
    ...TIMINGS,
    eventSourceConcurrency: 5,
    batchSize: 2,
    reservedConcurrency: 2,
  });

  expect(sentences).toEqual([
    "reserved-concurrency: the function's reserved concurrency (2) must be at least the event source's (5), or throttled batches use up their receives unseen; raise reservedConcurrency.",
  ]);
});

test("the backoff doubles from its base to its cap", () => {
  const ceilings = [1, 2, 3, 4, 5, 6, 7, 1_000].map((n) => backoffCeilingMs(TIMINGS, n));

  expect(ceilings).toEqual([30_000, 60_000, 120_000, 240_000, 480_000, 900_000, 900_000, 900_000]);
});

test("fourteen receives keep a message out of the dead-letter queue for over an hour", () => {
  expect(shortestOutageCoveredMs(TIMINGS)).toBe(4_065_000);
});

test("the worker's timings are variables in seconds", () => {
  expect(timingVariables({ ...TIMINGS, callTimeoutMs: 500 })).toEqual({
    STRIPE_TIMEOUT_SECONDS: "20",
    CALL_TIMEOUT_SECONDS: "0.5",
    DEADLINE_RESERVE_SECONDS: "5",
    CLOCK_SKEW_SECONDS: "5",
    KEY_WINDOW_SECONDS: "82800",
    RECORD_TTL_SECONDS: "3024000",
    MAX_MESSAGE_AGE_SECONDS: "2592000",
    MAX_SENDER_AHEAD_SECONDS: "300",
    BACKOFF_BASE_SECONDS: "30",
    BACKOFF_CAP_SECONDS: "900",
  });
});
