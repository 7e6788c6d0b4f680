// The durations and limits of any queue that a function consumes, each with its reason, and the
// rules between them. infra/ checks them for every queue before it synthesizes.

import { backoffOrder, shortestOutageCoveredMs } from "./backoff.ts";
import type { Backoff } from "./backoff.ts";
import { slowestMs } from "./latency.ts";
import {
  brokenRules,
  DAY,
  finiteNumber,
  HOUR,
  inDays,
  inSeconds,
  MINUTE,
  rule,
  SECOND,
} from "./rules.ts";
import type { Rule } from "./rules.ts";

/** All durations are in ms. */
export type QueueTimings = Backoff & {
  functionTimeoutMs: number;
  visibilityTimeoutMs: number;
  batchWindowMs: number;
  batchSize: number;
  /** The event source's `maxConcurrency`. */
  eventSourceConcurrency: number;
  /** The function's reserved concurrency. */
  reservedConcurrency: number;
  /** Receives after which SQS moves a message to the dead-letter queue. */
  maxReceiveCount: number;
  queueRetentionMs: number;
  deadLetterRetentionMs: number;
  /** An outage this long must not push a message into the dead-letter queue. */
  outageMs: number;
  /** Requests per second that the API behind the function allows. */
  apiRequestsPerSecond: number;
  /** How long half of them take at most. */
  apiLatencyMs: number;
  /** How long 99 % of them take at most. */
  apiLatencyP99Ms: number;
};

/**
 * The most messages in one batch: each has a connection to DynamoDB and one to Stripe, and Lambda
 * allows 1,024 file descriptors.
 * https://docs.aws.amazon.com/lambda/latest/dg/gettingstarted-limits.html
 */
export const MAX_BATCH_SIZE = 400;

export const DEFAULT_QUEUE_TIMINGS: Readonly<QueueTimings> = {
  backoffBaseMs: 30 * SECOND, // shorter, and a blip of the API costs several receives
  backoffCapMs: 15 * MINUTE, // longer, and customers wait that long after an outage is over
  functionTimeoutMs: MINUTE, // secret, claim, lookup, charge and complete at their slowest
  visibilityTimeoutMs: 6 * MINUTE, // six function timeouts: AWS's rule for SQS event sources
  batchWindowMs: 0, // a payment does not wait for company
  batchSize: 5, // with two pollers: ten at once
  eventSourceConcurrency: 2, // the smallest that Lambda accepts
  reservedConcurrency: 2, // what the event source may use: never throttled, never more
  maxReceiveCount: 14, // with the backoff above, an outage of over an hour
  queueRetentionMs: 4 * DAY, // a long weekend without Stripe
  deadLetterRetentionMs: 14 * DAY, // the most that SQS offers
  outageMs: HOUR,
  apiRequestsPerSecond: 25, // Stripe's default for one endpoint, live mode too
  // A charge. Stripe publishes no figures, and those of its sandbox are of no gateway
  // (https://docs.stripe.com/rate-limits#load-testing): measure yours, as docs/scale.md shows.
  apiLatencyMs: 500,
  apiLatencyP99Ms: 2_000,
};

/** For Stripe's events: each is one read at Stripe, shorter than a charge and with a rate of its own. */
export const STRIPE_EVENT_TIMINGS: Readonly<QueueTimings> = {
  ...DEFAULT_QUEUE_TIMINGS,
  batchSize: 2, // with two pollers: four reads at once
  apiLatencyMs: 200,
  apiLatencyP99Ms: 800,
};

function batchWaitMs({ batchSize, apiLatencyMs, apiLatencyP99Ms }: QueueTimings): number {
  return slowestMs({ medianMs: apiLatencyMs, p99Ms: apiLatencyP99Ms }, batchSize);
}

/** Requests per second while every batch is full: what a backlog makes. */
function apiRate(timings: QueueTimings): number {
  return (timings.batchSize * timings.eventSourceConcurrency * SECOND) / batchWaitMs(timings);
}

const RULES: readonly Rule<QueueTimings>[] = [
  finiteNumber,
  backoffOrder,
  rule(
    "function-timeout",
    (t) => t.functionTimeoutMs <= 15 * MINUTE,
    (t) =>
      `the function timeout (${inSeconds(t.functionTimeoutMs)}) must not exceed Lambda's limit of 900 s; lower functionTimeoutMs.`,
  ),
  rule(
    "visibility-aws",
    (t) =>
      t.visibilityTimeoutMs >= 6 * t.functionTimeoutMs + t.batchWindowMs &&
      t.visibilityTimeoutMs <= 12 * HOUR,
    (t) =>
      `the visibility timeout (${inSeconds(t.visibilityTimeoutMs)}) must be at least 6 × the function timeout plus the batch window (${inSeconds(6 * t.functionTimeoutMs + t.batchWindowMs)}), AWS's rule for event sources, and at most 12 h; change visibilityTimeoutMs.`,
  ),
  rule(
    "dead-letter-retention",
    (t) => t.deadLetterRetentionMs > t.queueRetentionMs && t.deadLetterRetentionMs <= 14 * DAY,
    (t) =>
      `the dead-letter retention (${inDays(t.deadLetterRetentionMs)}) must exceed the queue's (${inDays(t.queueRetentionMs)}), because a moved message keeps its enqueue time, and SQS allows at most 14 d; change deadLetterRetentionMs or queueRetentionMs.`,
  ),
  rule(
    "dead-letter-before-retention",
    (t) =>
      t.maxReceiveCount * Math.max(t.backoffCapMs, t.visibilityTimeoutMs) <= t.queueRetentionMs,
    (t) =>
      `all ${t.maxReceiveCount} receives at their slowest (${inSeconds(Math.max(t.backoffCapMs, t.visibilityTimeoutMs))} each) must fit into the queue's retention (${inDays(t.queueRetentionMs)}), or SQS deletes a message before it reaches the dead-letter queue; raise queueRetentionMs.`,
  ),
  rule(
    "outage",
    (t) => shortestOutageCoveredMs(t) >= t.outageMs,
    (t) =>
      `${t.maxReceiveCount} receives with this backoff cover an outage of ${inSeconds(shortestOutageCoveredMs(t))} at the least, less than the ${inSeconds(t.outageMs)} asked for; raise maxReceiveCount or backoffCapMs.`,
  ),
  rule(
    "receive-count",
    (t) =>
      Number.isInteger(t.maxReceiveCount) && t.maxReceiveCount >= 5 && t.maxReceiveCount <= 1000,
    (t) =>
      `maxReceiveCount (${t.maxReceiveCount}) must be an integer from 5 to 1000: AWS asks for at least 5, so that throttling alone does not fill the dead-letter queue.`,
  ),
  rule(
    "reserved-concurrency",
    (t) => t.reservedConcurrency >= t.eventSourceConcurrency,
    (t) =>
      `the function's reserved concurrency (${t.reservedConcurrency}) must be at least the event source's (${t.eventSourceConcurrency}), or throttled batches use up their receives unseen; raise reservedConcurrency.`,
  ),
  rule(
    "event-source-limits",
    (t) =>
      Number.isInteger(t.eventSourceConcurrency) &&
      t.eventSourceConcurrency >= 2 &&
      t.eventSourceConcurrency <= 1000 &&
      Number.isInteger(t.batchSize) &&
      t.batchSize >= 1 &&
      t.batchSize <= (t.batchWindowMs > 0 ? MAX_BATCH_SIZE : 10) &&
      t.batchWindowMs <= 5 * MINUTE,
    (t) =>
      `Lambda takes a concurrency of 2 to 1000 (${t.eventSourceConcurrency}), a batch window of at most 300 s (${inSeconds(t.batchWindowMs)}) and a batch size of 1 to 10, or to ${MAX_BATCH_SIZE} with a window (${t.batchSize}): a larger one takes more connections than Lambda has file descriptors; change these.`,
  ),
  rule(
    "api-latency",
    (t) => t.apiLatencyMs > 0 && t.apiLatencyMs <= t.apiLatencyP99Ms,
    (t) =>
      `the API's median latency (${inSeconds(t.apiLatencyMs)}) must be above 0 and not above its 99th percentile (${inSeconds(t.apiLatencyP99Ms)}); change apiLatencyMs or apiLatencyP99Ms.`,
  ),
  rule(
    "api-rate",
    (t) => apiRate(t) <= t.apiRequestsPerSecond,
    (t) =>
      `batch size × concurrency (${t.batchSize} × ${t.eventSourceConcurrency}) make ${apiRate(t).toFixed(1)} requests per second, when each batch waits for its slowest (${inSeconds(Math.round(batchWaitMs(t)))}), which is above the API's rate (${t.apiRequestsPerSecond}/s): it answers 429; lower batchSize or eventSourceConcurrency, or ask for a higher rate.`,
  ),
];

/** The rules that a queue's timings break, a sentence each with the numbers and the fix. */
export const queueViolations = (timings: QueueTimings): string[] => brokenRules(RULES, timings);
