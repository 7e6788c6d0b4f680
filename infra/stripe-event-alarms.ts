// What wakes an operator about Stripe's events.

import { Duration } from "aws-cdk-lib";
import type * as cloudwatch from "aws-cdk-lib/aws-cloudwatch";
import type { Construct } from "constructs";

import { STRIPE_EVENT_TIMINGS } from "../lib/timing/queue.ts";
import { alarmsOf, anyMessage, late, sum } from "./alarm.ts";
import type { Notified } from "./alarm.ts";
import type { LambdaFunction } from "./lambda-function.ts";
import { count } from "./metrics.ts";
import type { QueueConsumer } from "./queue-consumer.ts";

const MINUTE = Duration.minutes(1);
const MINUTES_5 = Duration.minutes(5);
const MINUTES_15 = Duration.minutes(15);

// An outsider tries the address, or the secret is wrong: Stripe alone sends fewer that do not verify.
const MANY_INVALID = 20;

type Parts = Construct & { readonly webhook: LambdaFunction; readonly finalizer: QueueConsumer };

export function stripeEventAlarms(parts: Parts, notified: Notified): cloudwatch.Alarm[] {
  const add = alarmsOf(parts, notified);
  const { webhook, finalizer } = parts;
  const { queue, deadLetterQueue } = finalizer.queues;
  return [
    add(
      "DoubleCharges",
      "Two PaymentIntents at Stripe carry one message id: a customer was charged twice, seconds ago. The log has both ids. Refund the one that is not recorded, and find out what else charges under our ids before it does so again.",
      count(finalizer, "DoubleCharge", MINUTE),
    ),
    add(
      "StripeEventDeadLetters",
      "One of Stripe's events is in the dead-letter queue: Stripe contradicts a final outcome, the event is not one of Stripe's or of the other mode, or the finalizer failed with it for over an hour. A recorded outcome may be out of date. The log has the reason; fix it and redrive.",
      ...anyMessage(deadLetterQueue),
    ),
    add(
      "StripeEventsLate",
      "One of Stripe's events has waited longer than the longest backoff plus one visibility timeout. Recorded outcomes are not moved forward, which loses nothing for 4 days. Look for an outage of Stripe or DynamoDB, throttles, or a disabled event source.",
      ...late(queue, STRIPE_EVENT_TIMINGS),
    ),
    add(
      "UnmatchedPayments",
      "A PaymentIntent at Stripe carries a message id that has no record here. The record was lost or has expired, or another deployment uses the same Stripe account and reports to this one. Compare the records with Stripe: `payments reconcile`.",
      count(finalizer, "Unmatched", MINUTES_15),
    ),
    add(
      "WebhookFailures",
      "The webhook could not take one of Stripe's events: it could not read its signing secret or send to its queue, it crashed, or it was throttled. Stripe sends the event again for three days, and then never. The log has the code.",
      sum("Events not taken", MINUTES_15, {
        failed: count(webhook, "WebhookFailed", MINUTES_15),
        errors: webhook.function.metricErrors({ period: MINUTES_15, statistic: "Sum" }),
        throttles: webhook.function.metricThrottles({ period: MINUTES_15, statistic: "Sum" }),
      }),
    ),
    add(
      "WebhookInvalid",
      `At least ${MANY_INVALID} requests in 5 minutes did not verify. If no event is accepted meanwhile, the signing secret is not the endpoint's; if events are accepted, somebody else tries the address, which costs at most the webhook's own concurrency.`,
      count(webhook, "WebhookInvalid", MINUTES_5),
      { threshold: MANY_INVALID },
    ),
  ];
}
