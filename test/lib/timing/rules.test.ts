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

const finite = (name: string, value: string) =>
  `finite-number: ${name} is ${value}; it must be a number that is not negative.`;
const backoffOrder = (base: string, cap: string) =>
  `backoff-order: the backoff must start at 1 s or more (${base} s), not above its cap (${cap} s), and the cap must be at most 42000 s, because SQS counts its 12 h from the receive; change backoffBaseMs or backoffCapMs.`;
const timeToAnswer = (stripe: string, aws: string, reserve: string) =>
  `time-to-answer: a Stripe call (${stripe} s), a call to AWS (${aws} s) and the reserve (${reserve} s) must each have at least 0.1 s, or nothing is ever charged; raise stripeTimeoutMs, callTimeoutMs or deadlineReserveMs.`;
const slowest = (stripe: string, sum: string, timeout: string) =>
  `slowest-delivery: the slowest delivery (4 calls × 3 s + 2 Stripe calls × ${stripe} s + reserve 5 s = ${sum} s) must end before the function timeout (${timeout} s); raise functionTimeoutMs or lower stripeTimeoutMs.`;
const visibility = (timeout: string, least: string) =>
  `visibility-aws: the visibility timeout (${timeout} s) must be at least 6 × the function timeout plus the batch window (${least} s), AWS's rule for event sources, and at most 12 h; change visibilityTimeoutMs.`;
const deadLetters = (retention: string) =>
  `dead-letter-retention: the dead-letter retention (${retention} d) must exceed the queue's (4 d), because a moved message keeps its enqueue time, and SQS allows at most 14 d; change deadLetterRetentionMs or queueRetentionMs.`;
const receiveCount = (count: string) =>
  `receive-count: maxReceiveCount (${count}) must be an integer from 5 to 1000: AWS asks for at least 5, so that throttling alone does not fill the dead-letter queue.`;
const reserved = (own: string, source: string) =>
  `reserved-concurrency: the function's reserved concurrency (${own}) must be at least the event source's (${source}), or throttled batches use up their receives unseen; raise reservedConcurrency.`;
const eventSource = (concurrency: string, window: string, batch: string) =>
  `event-source-limits: Lambda takes a concurrency of 2 to 1000 (${concurrency}), a batch window of at most 300 s (${window} s) and a batch size of 1 to 10, or to 400 with a window (${batch}): a larger one takes more connections than Lambda has file descriptors; change these.`;
const apiRate = (made: string, slowest: string, rate: string) =>
  `api-rate: batch size × concurrency (5 × 2) make ${made} requests per second, when each batch waits for its slowest (${slowest} s), which is above the API's rate (${rate}/s): it answers 429; lower batchSize or eventSourceConcurrency, or ask for a higher rate.`;
const apiLatency = (median: string, p99: string) =>
  `api-latency: the API's median latency (${median} s) must be above 0 and not above its 99th percentile (${p99} s); change apiLatencyMs or apiLatencyP99Ms.`;

/** A batch of that size, every second, at an API that takes so many. */
const batchesOf = (batchSize: number, apiRequestsPerSecond: number) => ({
  batchSize,
  batchWindowMs: 1_000,
  visibilityTimeoutMs: 361_000,
  apiRequestsPerSecond,
});
const LONG = { queueRetentionMs: 11 * DAY, maxMessageAgeMs: 32 * DAY };

// Each rule with a value on its edge that keeps it, the next one that breaks it, and what is said then.
const edges: [kept: Partial<Timings>, broken: Partial<Timings>, sentence: string][] = [
  [{ outageMs: 0 }, { outageMs: -1 }, finite("outageMs", "-1")],
  [{ clockSkewMs: 0 }, { clockSkewMs: Number.NaN }, finite("clockSkewMs", "NaN")],
  [
    { apiLatencyP99Ms: 1_000_000 },
    { apiLatencyP99Ms: Infinity },
    finite("apiLatencyP99Ms", "Infinity"),
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
  [{ backoffBaseMs: 900_000 }, { backoffBaseMs: 900_001 }, backoffOrder("900.001", "900")],
  [
    { backoffBaseMs: 1_000, maxReceiveCount: 30 },
    { backoffBaseMs: 999, maxReceiveCount: 30 },
    backoffOrder("0.999", "900"),
  ],
  [
    { backoffCapMs: 42_000_000, queueRetentionMs: 7 * DAY },
    { backoffCapMs: 42_000_001, queueRetentionMs: 8 * DAY },
    backoffOrder("30", "42000.001"),
  ],
  [{ stripeTimeoutMs: 100 }, { stripeTimeoutMs: 99 }, timeToAnswer("0.099", "3", "5")],
  [{ callTimeoutMs: 100 }, { callTimeoutMs: 99 }, timeToAnswer("20", "0.099", "5")],
  [{ deadlineReserveMs: 100 }, { deadlineReserveMs: 99 }, timeToAnswer("20", "3", "0.099")],
  [{ functionTimeoutMs: 57_001 }, { functionTimeoutMs: 57_000 }, slowest("20", "57", "57")],
  [{ stripeTimeoutMs: 21_499 }, { stripeTimeoutMs: 21_500 }, slowest("21.5", "60", "60")],
  [
    { functionTimeoutMs: 900_000, visibilityTimeoutMs: 5_400_000 },
    { functionTimeoutMs: 900_001, visibilityTimeoutMs: 5_400_006 },
    "function-timeout: the function timeout (900.001 s) must not exceed Lambda's limit of 900 s; lower functionTimeoutMs.",
  ],
  [
    { visibilityTimeoutMs: 360_000 },
    { visibilityTimeoutMs: 359_999 },
    visibility("359.999", "360"),
  ],
  [
    { batchWindowMs: 1_000, visibilityTimeoutMs: 361_000 },
    { batchWindowMs: 1_000, visibilityTimeoutMs: 360_000 },
    visibility("360", "361"),
  ],
  [
    { visibilityTimeoutMs: 12 * HOUR, queueRetentionMs: 7 * DAY },
    { visibilityTimeoutMs: 12 * HOUR + 1, queueRetentionMs: 8 * DAY },
    visibility("43200.001", "360"),
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
  [{ deadLetterRetentionMs: 4 * DAY + 1 }, { deadLetterRetentionMs: 4 * DAY }, deadLetters("4")],
  [
    { deadLetterRetentionMs: 14 * DAY },
    { deadLetterRetentionMs: 14 * DAY + 1 },
    deadLetters("14.000000011574073"),
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
  [{ maxReceiveCount: 5, outageMs: 0 }, { maxReceiveCount: 4, outageMs: 0 }, receiveCount("4")],
  [{ maxReceiveCount: 14 }, { maxReceiveCount: 14.5 }, receiveCount("14.5")],
  [{ maxReceiveCount: 1_000, ...LONG }, { maxReceiveCount: 1_001, ...LONG }, receiveCount("1001")],
  [{ reservedConcurrency: 2 }, { reservedConcurrency: 1 }, reserved("1", "2")],
  [{ eventSourceConcurrency: 2 }, { eventSourceConcurrency: 1 }, eventSource("1", "0", "5")],
  [
    { eventSourceConcurrency: 3, reservedConcurrency: 3, batchSize: 1 },
    { eventSourceConcurrency: 2.5, reservedConcurrency: 3, batchSize: 1 },
    eventSource("2.5", "0", "1"),
  ],
  [
    { eventSourceConcurrency: 1_000, reservedConcurrency: 1_000, ...batchesOf(1, 2_000) },
    { eventSourceConcurrency: 1_001, reservedConcurrency: 1_001, ...batchesOf(1, 4_000) },
    eventSource("1001", "1", "1"),
  ],
  [{ batchSize: 1 }, { batchSize: 0 }, eventSource("2", "0", "0")],
  [{ batchSize: 2 }, { batchSize: 1.5 }, eventSource("2", "0", "1.5")],
  [
    { batchSize: 10, apiRequestsPerSecond: 40 },
    { batchSize: 11, apiRequestsPerSecond: 100 },
    eventSource("2", "0", "11"),
  ],
  [batchesOf(400, 2_000), batchesOf(401, 4_000), eventSource("2", "1", "401")],
  [
    { batchWindowMs: 300_000, visibilityTimeoutMs: 660_000 },
    { batchWindowMs: 300_001, visibilityTimeoutMs: 660_001 },
    eventSource("2", "300.001", "5"),
  ],
  [
    { apiLatencyMs: 400, apiLatencyP99Ms: 400 },
    { apiLatencyMs: 399, apiLatencyP99Ms: 399 },
    apiRate("25.1", "0.399", "25"),
  ],
  [
    // The slowest of five takes 0.652 s on average, not 0.3 s.
    { apiLatencyMs: 300, apiLatencyP99Ms: 1_200, apiRequestsPerSecond: 16 },
    { apiLatencyMs: 300, apiLatencyP99Ms: 1_200, apiRequestsPerSecond: 15 },
    apiRate("15.3", "0.652", "15"),
  ],
  [
    { apiLatencyMs: 1, apiLatencyP99Ms: 1, apiRequestsPerSecond: 10_000 },
    { apiLatencyMs: 0, apiLatencyP99Ms: 1, apiRequestsPerSecond: 10_000 },
    apiLatency("0", "0.001"),
  ],
  [{ apiLatencyMs: 500 }, { apiLatencyMs: 501 }, apiLatency("0.501", "0.5")],
];

test.each(edges)("%j keeps its rule at the edge, and %j breaks it", (kept, broken, sentence) => {
  expect(violations({ ...TIMINGS, ...kept })).toEqual([]);

  expect(violations({ ...TIMINGS, ...broken })).toContain(sentence);
});

test("nothing is said of a rule that is kept", () => {
  const changes = { eventSourceConcurrency: 5, batchSize: 2, reservedConcurrency: 2 };

  expect(violations({ ...TIMINGS, ...changes })).toEqual([reserved("2", "5")]);
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
