// The limits on the way up, by default and as of November 2026, and the rate at which each is reached.

import type { Load, Plan } from "./plan.ts";

const STRIPE_ACCOUNT_PER_SECOND = 100; // https://docs.stripe.com/rate-limits (live mode)
const LAMBDA_ACCOUNT_CONCURRENCY = 1_000; // https://docs.aws.amazon.com/lambda/latest/dg/gettingstarted-limits.html
/** https://docs.aws.amazon.com/lambda/latest/dg/services-sqs-scaling.html */
export const EVENT_SOURCE_CONCURRENCY = 1_000;
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Limits.html
const NEW_TABLE_WRITE_UNITS = 4_000;
const TABLE_WRITE_UNITS = 40_000;
// https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/quotas-queues.html
const QUEUE_IN_FLIGHT = 120_000;

const RAISE_STRIPE =
  "ask Stripe for a higher limit, six weeks ahead; until then the queue is the buffer";

/** The limits in the order in which a growing load reaches them, each at so many payments per second. */
export function limitsOf(load: Load, plan: Plan) {
  const { rate, retries } = load;
  const charges = 1 + retries;
  const messagesAtOnce = (batches: number) => (batches * plan.batchSize * 1_000) / plan.batchMs;
  // A higher limit on one endpoint raises the account's too.
  const stripeAccount = Math.max(STRIPE_ACCOUNT_PER_SECOND, load.stripePerSecond);
  const unitsPerPayment = plan.writeUnitsPerSecond / rate;
  const limits = [
    {
      name: `Stripe: ${shown(load.stripePerSecond)} requests/s on one endpoint`,
      reachedAt: load.stripePerSecond / charges,
      remedy: RAISE_STRIPE,
    },
    {
      name: `Stripe: ${shown(stripeAccount)} requests/s for the whole account`,
      reachedAt: stripeAccount / charges,
      remedy: RAISE_STRIPE,
    },
    {
      name: `DynamoDB: ${shown(NEW_TABLE_WRITE_UNITS)} write units/s for a new table`,
      reachedAt: NEW_TABLE_WRITE_UNITS / unitsPerPayment,
      remedy: "set the table's warm throughput beforehand",
    },
    {
      name: `DynamoDB: ${shown(TABLE_WRITE_UNITS)} write units/s for one table`,
      reachedAt: TABLE_WRITE_UNITS / unitsPerPayment,
      remedy: "request a higher quota",
    },
    {
      name: `Lambda: ${shown(LAMBDA_ACCOUNT_CONCURRENCY)} concurrent executions in the account`,
      reachedAt: messagesAtOnce(LAMBDA_ACCOUNT_CONCURRENCY) / charges,
      remedy: "request a higher quota",
    },
    {
      name: `Lambda: ${shown(EVENT_SOURCE_CONCURRENCY)} concurrent batches of one event source`,
      reachedAt: messagesAtOnce(EVENT_SOURCE_CONCURRENCY) / charges,
      remedy: "spread the payments over several queues with a worker each; the table stays one",
    },
    {
      name: `SQS: ${shown(QUEUE_IN_FLIGHT)} messages in flight in one queue`,
      reachedAt: (QUEUE_IN_FLIGHT * 1_000) / plan.batchMs / charges,
      remedy: "spread the payments over several queues",
    },
  ];
  return limits.toSorted((a, b) => a.reachedAt - b.reachedAt);
}

function shown(limit: number): string {
  return limit.toLocaleString("en");
}
