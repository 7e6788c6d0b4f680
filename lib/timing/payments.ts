// The durations of payments, each with its reason, and the rules between them and their queue. The
// worker checks its half at start, infra/ all of it before it synthesizes.

import { backoffOrder } from "./backoff.ts";
import type { Backoff } from "./backoff.ts";
import { DEFAULT_QUEUE_TIMINGS, queueViolations } from "./queue.ts";
import type { QueueTimings } from "./queue.ts";
import {
  brokenRules,
  DAY,
  finiteNumber,
  HOUR,
  inDays,
  inHours,
  inSeconds,
  rule,
  SECOND,
} from "./rules.ts";
import type { Rule } from "./rules.ts";

/** What the running worker needs to know. All durations are in ms. */
export type WorkerTimings = Backoff & {
  /** One Stripe call in total: connection, reply and body, and a resend on a stale socket. */
  stripeTimeoutMs: number;
  /** One call to DynamoDB, Secrets Manager or SQS in total, the SDK's retries included. */
  callTimeoutMs: number;
  /** Kept free at the end of an invocation, to set visibility timeouts and to answer Lambda. */
  deadlineReserveMs: number;
  /** How far the clocks of two workers may differ. */
  clockSkewMs: number;
  /** How long after the first claim Stripe is trusted to know the idempotency key. */
  keyWindowMs: number;
  /** Life of an idempotency record, from the first claim: the deduplication window. */
  recordTtlMs: number;
  /** Older messages, by the sender's own time, are invalid: their record may be gone. */
  maxMessageAgeMs: number;
  /** How far ahead of the worker's clock a sender's time may be. */
  maxSenderAheadMs: number;
};

/** What the deployment adds. */
export type Timings = WorkerTimings &
  QueueTimings & {
    /** How long an operator may take, beyond all retention, to redrive a message. */
    operatorSlackMs: number;
  };

export const DEFAULT_WORKER_TIMINGS: Readonly<WorkerTimings> = {
  stripeTimeoutMs: 20 * SECOND, // confirming a card takes 1 to 3 s; issuers are given up to about 10
  callTimeoutMs: 3 * SECOND, // these answer in ms: three tries of a second
  deadlineReserveMs: 5 * SECOND, // one SQS call, with its retries
  clockSkewMs: 5 * SECOND, // Lambda hosts are synchronized to within ms: a wide margin
  keyWindowMs: 23 * HOUR, // Stripe keeps a key for at least 24 h: an hour for clocks and slow calls
  recordTtlMs: 35 * DAY, // outlives the oldest message that is accepted
  maxMessageAgeMs: 30 * DAY, // a full stay in both queues, and a week for the operator
  maxSenderAheadMs: 5 * 60_000, // a wrong clock would make an old payment look young
  backoffBaseMs: DEFAULT_QUEUE_TIMINGS.backoffBaseMs,
  backoffCapMs: DEFAULT_QUEUE_TIMINGS.backoffCapMs,
};

export const DEFAULT_TIMINGS: Readonly<Timings> = {
  ...DEFAULT_QUEUE_TIMINGS,
  ...DEFAULT_WORKER_TIMINGS,
  batchSize: 8, // the cheapest that carries 15 payments per second, by npm run capacity
  eventSourceConcurrency: 3, // 24 charges at once: Stripe takes them even when all start together
  reservedConcurrency: 3,
  operatorSlackMs: 7 * DAY,
};

/**
 * The slowest delivery in ms: secret, claim, takeover, lookup and charge at Stripe, complete or
 * release, and the reserve.
 */
function slowestDeliveryMs(timings: WorkerTimings): number {
  return 4 * timings.callTimeoutMs + 2 * timings.stripeTimeoutMs + timings.deadlineReserveMs;
}

const WORKER_RULES: readonly Rule<WorkerTimings>[] = [
  finiteNumber,
  rule(
    "time-to-answer",
    (t) => Math.min(t.stripeTimeoutMs, t.callTimeoutMs, t.deadlineReserveMs) >= SECOND / 10,
    (t) =>
      `a Stripe call (${inSeconds(t.stripeTimeoutMs)}), a call to AWS (${inSeconds(t.callTimeoutMs)}) and the reserve (${inSeconds(t.deadlineReserveMs)}) must each have at least 0.1 s, or nothing is ever charged; raise stripeTimeoutMs, callTimeoutMs or deadlineReserveMs.`,
  ),
  rule(
    "key-window",
    (t) => t.keyWindowMs + t.maxSenderAheadMs + t.clockSkewMs + t.stripeTimeoutMs <= 24 * HOUR,
    (t) =>
      `the key window (${inHours(t.keyWindowMs)}) plus how far ahead a sender's time may be (${inSeconds(t.maxSenderAheadMs)}), the clock skew and one Stripe call must end within the 24 h that Stripe keeps an idempotency key; shorten keyWindowMs or maxSenderAheadMs.`,
  ),
  rule(
    "record-ttl-covers-age",
    (t) => t.maxMessageAgeMs + t.maxSenderAheadMs + t.clockSkewMs <= t.recordTtlMs,
    (t) =>
      `the record TTL (${inDays(t.recordTtlMs)}) must be at least the greatest accepted message age (${inDays(t.maxMessageAgeMs)}) plus how far ahead a sender's time may be (${inSeconds(t.maxSenderAheadMs)}) plus the clock skew; raise recordTtlMs or lower maxMessageAgeMs.`,
  ),
  backoffOrder,
];

const PAYMENT_RULES: readonly Rule<Timings>[] = [
  rule(
    "slowest-delivery",
    (t) => slowestDeliveryMs(t) < t.functionTimeoutMs,
    (t) =>
      `the slowest delivery (4 calls × ${inSeconds(t.callTimeoutMs)} + 2 Stripe calls × ${inSeconds(t.stripeTimeoutMs)} + reserve ${inSeconds(t.deadlineReserveMs)} = ${inSeconds(slowestDeliveryMs(t))}) must end before the function timeout (${inSeconds(t.functionTimeoutMs)}); raise functionTimeoutMs or lower stripeTimeoutMs.`,
  ),
  rule(
    "lease-within-visibility",
    (t) => t.batchWindowMs + t.functionTimeoutMs + t.clockSkewMs <= t.visibilityTimeoutMs,
    (t) =>
      `the longest lease (function timeout ${inSeconds(t.functionTimeoutMs)} + clock skew ${inSeconds(t.clockSkewMs)}) after a full batch window (${inSeconds(t.batchWindowMs)}) must end within the visibility timeout (${inSeconds(t.visibilityTimeoutMs)}), or a redelivery finds it live; raise visibilityTimeoutMs.`,
  ),
  rule(
    "deduplication-window",
    (t) =>
      t.queueRetentionMs + t.deadLetterRetentionMs + t.operatorSlackMs <=
      Math.min(t.recordTtlMs, t.maxMessageAgeMs),
    (t) =>
      `the record TTL (${inDays(t.recordTtlMs)}) and the greatest accepted message age (${inDays(t.maxMessageAgeMs)}) must be at least queue retention (${inDays(t.queueRetentionMs)}) + dead-letter retention (${inDays(t.deadLetterRetentionMs)}) + operator slack (${inDays(t.operatorSlackMs)}); raise recordTtlMs and maxMessageAgeMs.`,
  ),
];

/** The rules that the worker's own timings break, a sentence each; empty when all is well. */
export const workerViolations = (timings: WorkerTimings): string[] =>
  brokenRules(WORKER_RULES, timings);

/** The rules that a deployment's timings break, a sentence each with the numbers and the fix. */
export const violations = (timings: Timings): string[] => [
  ...new Set([
    ...workerViolations(timings),
    ...queueViolations(timings),
    ...brokenRules(PAYMENT_RULES, timings),
  ]),
];
