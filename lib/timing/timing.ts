// Every duration and limit of the system, with its reason, and the rules between them. The worker
// checks its half at start, infra/ checks all of it before it synthesises.

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** What the running worker needs to know. All durations are in ms. */
export type WorkerTimings = {
  /** One Stripe call in total: connection, reply and body, and a resend on a stale socket. */
  stripeTimeoutMs: number;
  /** One call to DynamoDB, Secrets Manager or SQS in total, the SDK's retries included. */
  callTimeoutMs: number;
  /** Kept free at the end of an invocation, to set visibilities and to answer Lambda. */
  deadlineReserveMs: number;
  /** How far the clocks of two workers may differ. */
  clockSkewMs: number;
  /** How long after the first claim Stripe is trusted to know the idempotency key. */
  keyWindowMs: number;
  /** Life of an idempotency record, from the first claim. */
  recordTtlMs: number;
  /** Older messages, by the sender's own time, are refused: their record may be gone. */
  maxMessageAgeMs: number;
  /** How far ahead of the worker's clock a sender's time may be. */
  maxSenderAheadMs: number;
  /** The longest wait after a first transient failure; it doubles with each receive. */
  backoffBaseMs: number;
  /** No wait after a transient failure is longer. */
  backoffCapMs: number;
};

/** What the deployment adds. All durations are in ms. */
export type Timings = WorkerTimings & {
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
  /** How long an operator may take, beyond all retention, to redrive a message. */
  operatorSlackMs: number;
  /** A Stripe outage this long must not push a message into the dead-letter queue. */
  outageMs: number;
  /** PaymentIntent creates a second that the Stripe account allows. */
  stripeRequestsPerSecond: number;
  /** The shortest time that one charge takes at Stripe: what makes the rate highest. */
  chargeLatencyMs: number;
};

export const DEFAULT_WORKER_TIMINGS: Readonly<WorkerTimings> = {
  stripeTimeoutMs: 20 * SECOND, // confirming a card takes 1 to 3 s; issuers are given up to about 10
  callTimeoutMs: 3 * SECOND, // these answer in ms: three tries of a second
  deadlineReserveMs: 5 * SECOND, // one SQS call, with its retries
  clockSkewMs: 5 * SECOND, // Lambda hosts are synchronised to within ms: a wide margin
  keyWindowMs: 23 * HOUR, // Stripe keeps a key for at least 24 h: an hour for clocks and slow calls
  recordTtlMs: 35 * DAY, // outlives the oldest message that is accepted
  maxMessageAgeMs: 30 * DAY, // a full stay in both queues, and a week for the operator
  maxSenderAheadMs: DAY, // a sender on the wrong side of a date line or of a time zone bug
  backoffBaseMs: 30 * SECOND, // shorter, and a blip of Stripe costs several receives
  backoffCapMs: 15 * MINUTE, // longer, and customers wait that long after an outage is over
};

export const DEFAULT_TIMINGS: Readonly<Timings> = {
  ...DEFAULT_WORKER_TIMINGS,
  functionTimeoutMs: MINUTE, // secret, claim, lookup, charge and complete at their slowest
  visibilityTimeoutMs: 6 * MINUTE, // six function timeouts: AWS's rule for SQS event sources
  batchWindowMs: 0, // a payment does not wait for company
  batchSize: 5, // with two pollers: ten charges at once, below Stripe's rate
  eventSourceConcurrency: 2, // the smallest that Lambda accepts
  reservedConcurrency: 2, // what the event source may use: never throttled, never more
  maxReceiveCount: 14, // with the backoff above, an outage of over an hour
  queueRetentionMs: 4 * DAY, // a long weekend without Stripe
  deadLetterRetentionMs: 14 * DAY, // the most that SQS offers
  operatorSlackMs: 7 * DAY,
  outageMs: HOUR,
  stripeRequestsPerSecond: 25, // Stripe's default for one endpoint, live mode too
  chargeLatencyMs: 500,
};

/** The worker's timings as environment variables, in seconds (decimals allowed). */
export const TIMING_VARIABLES: Readonly<Record<keyof WorkerTimings, string>> = {
  stripeTimeoutMs: "STRIPE_TIMEOUT_SECONDS",
  callTimeoutMs: "CALL_TIMEOUT_SECONDS",
  deadlineReserveMs: "DEADLINE_RESERVE_SECONDS",
  clockSkewMs: "CLOCK_SKEW_SECONDS",
  keyWindowMs: "KEY_WINDOW_SECONDS",
  recordTtlMs: "RECORD_TTL_SECONDS",
  maxMessageAgeMs: "MAX_MESSAGE_AGE_SECONDS",
  maxSenderAheadMs: "MAX_SENDER_AHEAD_SECONDS",
  backoffBaseMs: "BACKOFF_BASE_SECONDS",
  backoffCapMs: "BACKOFF_CAP_SECONDS",
};

/** The variables to deploy, so that the worker runs on the very timings that were checked. */
export function timingVariables(timings: WorkerTimings): Record<string, string> {
  return Object.fromEntries(
    Object.entries(TIMING_VARIABLES).map(([key, variable]) => [
      variable,
      String(timings[key as keyof WorkerTimings] / SECOND),
    ]),
  );
}

/** The longest wait before receive `receiveCount + 1`, in ms; `receiveCount` starts at 1. */
export function backoffCeilingMs(
  timings: Pick<WorkerTimings, "backoffBaseMs" | "backoffCapMs">,
  receiveCount: number,
): number {
  // 2 ** 1024 is Infinity, which the minimum still caps.
  return Math.min(timings.backoffCapMs, timings.backoffBaseMs * 2 ** Math.max(0, receiveCount - 1));
}

/** How long the backoff alone keeps a message out of the dead-letter queue, in ms, at the least. */
export function shortestOutageCoveredMs(timings: Timings): number {
  let total = 0;
  for (let receive = 1; receive < timings.maxReceiveCount; receive++) {
    total += backoffCeilingMs(timings, receive) / 2; // a wait is never below half its ceiling
  }
  return total;
}

/**
 * The slowest delivery in ms: secret, claim, takeover, lookup and charge at Stripe, complete or
 * release, and the reserve.
 */
export function slowestDeliveryMs(timings: WorkerTimings): number {
  return 4 * timings.callTimeoutMs + 2 * timings.stripeTimeoutMs + timings.deadlineReserveMs;
}

/**
 * The most messages in one batch: each has a connection to DynamoDB and one to Stripe, and Lambda
 * allows 1,024 file descriptors.
 * https://docs.aws.amazon.com/lambda/latest/dg/gettingstarted-limits.html
 */
export const MAX_BATCH_SIZE = 400;

type Rule<T> = (timings: T) => string | undefined;

const s = (ms: number): string => `${ms / SECOND} s`;
const h = (ms: number): string => `${ms / HOUR} h`;
const d = (ms: number): string => `${ms / DAY} d`;
const rule =
  <T>(name: string, holds: (t: T) => boolean, sentence: (t: T) => string): Rule<T> =>
  (timings) =>
    holds(timings) ? undefined : `${name}: ${sentence(timings)}`;

const WORKER_RULES: Rule<WorkerTimings>[] = [
  (timings) => {
    const wrong = Object.entries(timings).find(([, value]) => !(value >= 0 && value < Infinity));
    return (
      wrong &&
      `finite-number: ${wrong[0]} is ${wrong[1]}; it must be a number that is not negative.`
    );
  },
  rule(
    "time-to-answer",
    (t) => Math.min(t.stripeTimeoutMs, t.callTimeoutMs, t.deadlineReserveMs) >= SECOND / 10,
    (t) =>
      `a Stripe call (${s(t.stripeTimeoutMs)}), a call to AWS (${s(t.callTimeoutMs)}) and the reserve (${s(t.deadlineReserveMs)}) must each have at least 0.1 s, or nothing is ever charged; raise stripeTimeoutMs, callTimeoutMs or deadlineReserveMs.`,
  ),
  rule(
    "key-window",
    (t) => t.keyWindowMs + t.clockSkewMs + t.stripeTimeoutMs <= 24 * HOUR,
    (t) =>
      `the key window (${h(t.keyWindowMs)}) plus the clock skew and one Stripe call must end within the 24 h that Stripe keeps an idempotency key; shorten keyWindowMs.`,
  ),
  rule(
    "record-ttl-covers-age",
    (t) => t.maxMessageAgeMs + t.maxSenderAheadMs + t.clockSkewMs <= t.recordTtlMs,
    (t) =>
      `the record TTL (${d(t.recordTtlMs)}) must be at least the greatest accepted message age (${d(t.maxMessageAgeMs)}) plus how far ahead a sender's time may be (${d(t.maxSenderAheadMs)}) plus the clock skew; raise recordTtlMs or lower maxMessageAgeMs.`,
  ),
  rule(
    "backoff-order",
    (t) =>
      t.backoffBaseMs >= SECOND && t.backoffBaseMs <= t.backoffCapMs && t.backoffCapMs <= 12 * HOUR,
    (t) =>
      `the backoff must start at 1 s or more (${s(t.backoffBaseMs)}), not above its cap (${s(t.backoffCapMs)}), and the cap must be within SQS's longest visibility timeout of 12 h; change backoffBaseMs or backoffCapMs.`,
  ),
];

const STACK_RULES: Rule<Timings>[] = [
  rule(
    "function-timeout",
    (t) => slowestDeliveryMs(t) < t.functionTimeoutMs && t.functionTimeoutMs <= 15 * MINUTE,
    (t) =>
      `the slowest delivery (4 calls × ${s(t.callTimeoutMs)} + 2 Stripe calls × ${s(t.stripeTimeoutMs)} + reserve ${s(t.deadlineReserveMs)} = ${s(slowestDeliveryMs(t))}) must end before the function timeout (${s(t.functionTimeoutMs)}), which Lambda limits to 900 s; change functionTimeoutMs or lower stripeTimeoutMs.`,
  ),
  rule(
    "visibility-aws",
    (t) =>
      t.visibilityTimeoutMs >= 6 * t.functionTimeoutMs + t.batchWindowMs &&
      t.visibilityTimeoutMs <= 12 * HOUR,
    (t) =>
      `the visibility timeout (${s(t.visibilityTimeoutMs)}) must be at least 6 × the function timeout plus the batch window (${s(6 * t.functionTimeoutMs + t.batchWindowMs)}), AWS's rule for event sources, and at most 12 h; change visibilityTimeoutMs.`,
  ),
  rule(
    "lease-within-visibility",
    (t) => t.batchWindowMs + t.functionTimeoutMs + t.clockSkewMs <= t.visibilityTimeoutMs,
    (t) =>
      `the longest lease (function timeout ${s(t.functionTimeoutMs)} + clock skew ${s(t.clockSkewMs)}) after a full batch window (${s(t.batchWindowMs)}) must end within the visibility timeout (${s(t.visibilityTimeoutMs)}), or a redelivery finds it live; raise visibilityTimeoutMs.`,
  ),
  rule(
    "memory-outlives-redelivery",
    (t) =>
      t.queueRetentionMs + t.deadLetterRetentionMs + t.operatorSlackMs <=
      Math.min(t.recordTtlMs, t.maxMessageAgeMs),
    (t) =>
      `the record TTL (${d(t.recordTtlMs)}) and the greatest accepted message age (${d(t.maxMessageAgeMs)}) must be at least queue retention (${d(t.queueRetentionMs)}) + dead-letter retention (${d(t.deadLetterRetentionMs)}) + operator slack (${d(t.operatorSlackMs)}); raise recordTtlMs and maxMessageAgeMs.`,
  ),
  rule(
    "dead-letter-retention",
    (t) => t.deadLetterRetentionMs > t.queueRetentionMs && t.deadLetterRetentionMs <= 14 * DAY,
    (t) =>
      `the dead-letter retention (${d(t.deadLetterRetentionMs)}) must exceed the queue's (${d(t.queueRetentionMs)}), because a moved message keeps its enqueue time, and SQS allows at most 14 d; change deadLetterRetentionMs or queueRetentionMs.`,
  ),
  rule(
    "dead-letter-before-retention",
    (t) =>
      t.maxReceiveCount * Math.max(t.backoffCapMs, t.visibilityTimeoutMs) <= t.queueRetentionMs,
    (t) =>
      `all ${t.maxReceiveCount} receives at their slowest (${s(Math.max(t.backoffCapMs, t.visibilityTimeoutMs))} each) must fit into the queue's retention (${d(t.queueRetentionMs)}), or SQS deletes a message before it reaches the dead-letter queue; raise queueRetentionMs.`,
  ),
  rule(
    "outage",
    (t) => shortestOutageCoveredMs(t) >= t.outageMs,
    (t) =>
      `${t.maxReceiveCount} receives with this backoff cover an outage of ${s(shortestOutageCoveredMs(t))} at the least, less than the ${s(t.outageMs)} asked for; raise maxReceiveCount or backoffCapMs.`,
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
      `Lambda takes a concurrency of 2 to 1000 (${t.eventSourceConcurrency}), a batch window of at most 300 s (${s(t.batchWindowMs)}) and a batch size of 1 to 10, or to ${MAX_BATCH_SIZE} with a window (${t.batchSize}): a larger one takes more connections than Lambda has file descriptors; change these.`,
  ),
  rule(
    "stripe-rate",
    (t) =>
      t.batchSize * t.eventSourceConcurrency <=
      (t.stripeRequestsPerSecond * t.chargeLatencyMs) / SECOND,
    (t) =>
      `batch size × concurrency (${t.batchSize} × ${t.eventSourceConcurrency}) must not exceed Stripe's rate × latency (${t.stripeRequestsPerSecond}/s × ${s(t.chargeLatencyMs)} = ${(t.stripeRequestsPerSecond * t.chargeLatencyMs) / SECOND} at once), or Stripe answers 429; lower batchSize or ask Stripe for a higher rate.`,
  ),
];

const broken = <T>(rules: Rule<T>[], timings: T): string[] =>
  rules.map((check) => check(timings)).filter((sentence) => sentence !== undefined);

/** The rules that the worker's own timings break, a sentence each; empty when all is well. */
export function workerViolations(timings: WorkerTimings): string[] {
  return broken(WORKER_RULES, timings);
}

/** The rules that a deployment's timings break, a sentence each with the numbers and the fix. */
export function violations(timings: Timings): string[] {
  return [...broken(WORKER_RULES, timings), ...broken(STACK_RULES, timings)];
}
