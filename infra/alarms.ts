// What wakes an operator: each description says what the alarm means and what to do first.

import { Duration } from "aws-cdk-lib";
import * as cloudwatch from "aws-cdk-lib/aws-cloudwatch";
import * as dynamodb from "aws-cdk-lib/aws-dynamodb";
import { Construct } from "constructs";

import type { Timings } from "../lib/timing/payments.ts";
import { alarmsOf, anyMessage, late, sum } from "./alarm.ts";
import type { AddAlarm, Notified } from "./alarm.ts";
import { count, maximum } from "./metrics.ts";
import type { QueueConsumer } from "./queue-consumer.ts";

export interface AlarmsProps extends Notified {
  readonly worker: QueueConsumer;
  readonly table: dynamodb.ITable;
  readonly timings: Timings;
  /** See `PaymentWorkerProps`. */
  readonly noTrafficFor?: Duration;
}

const seconds = (ms: number): number => Math.floor(ms / 1_000);
const MINUTES_5 = Duration.minutes(5);
const MINUTES_15 = Duration.minutes(15);
const SUM_5 = { period: MINUTES_5, statistic: "Sum" };
const SUM_15 = { period: MINUTES_15, statistic: "Sum" };
const MAXIMUM_5 = { period: MINUTES_5, statistic: "Maximum" };

// With the shipped backoff, 8 to 16 minutes after the first: longer than a blip.
const FAILED_RECEIVES = 6;

const NEAR_TIMEOUT = 0.9;

export class Alarms extends Construct {
  readonly all: cloudwatch.Alarm[] = [];

  constructor(scope: Construct, id: string, props: AlarmsProps) {
    super(scope, id);
    const { worker, table, timings, noTrafficFor } = props;
    const addAlarm = alarmsOf(this, props);
    const add = (...args: Parameters<AddAlarm>) => void this.all.push(addAlarm(...args));
    const { queue, deadLetterQueue } = worker.queues;
    // Before the last one, after which the dead-letter queue has its own alarm.
    const failedReceives = Math.min(FAILED_RECEIVES, timings.maxReceiveCount - 1);

    add(
      "DeadLetters",
      "At least one payment is in the dead-letter queue. Nothing more happens to it until an operator finds the reason (`payments dlq`, or its message id in the log) and redrives it or resolves it with the sender.",
      ...anyMessage(deadLetterQueue),
    );
    add(
      "DeadLettersExpiring",
      "SQS will soon delete a payment from the dead-letter queue. Its age counts from when it was sent, so this fires when half of the time that is surely left has passed. Redrive it or resolve it with the sender before then.",
      deadLetterQueue.metricApproximateAgeOfOldestMessage(MAXIMUM_5),
      {
        threshold: seconds((timings.deadLetterRetentionMs - timings.queueRetentionMs) / 2),
        treatMissingData: cloudwatch.TreatMissingData.IGNORE,
      },
    );
    add(
      "QueueAge",
      "A payment has waited longer than the longest backoff plus one visibility timeout, the most that a working queue imposes. Look for throttles, a disabled event source, or more payments than Stripe's rate allows. SQS does not count messages that were received three times: for those, see KeepsFailing.",
      ...late(queue, timings),
    );
    add(
      "KeepsFailing",
      `A payment has no outcome after ${failedReceives} receives, which is longer than a blip of Stripe or DynamoDB lasts. It is an outage, or a failure that this one message meets every time: see the kind in the log.`,
      maximum(worker, "FailedReceive", MINUTES_15),
      { threshold: failedReceives },
    );
    add(
      "Conflicts",
      "Two different payments were sent under one message id, and the second was not charged. Even one is a sender's bug that will happen again. Find both by the message id in the log.",
      count(worker, "Conflict", MINUTES_5),
    );
    add(
      "InvalidMessages",
      "A message breaks a rule of its format, or Stripe rejected it as invalid. Each one is a payment that will never be made unless someone acts. The log names the field and the rule.",
      sum("Invalid and rejected", MINUTES_5, {
        invalid: count(worker, "Invalid", MINUTES_5),
        rejected: count(worker, "Rejected", MINUTES_5),
      }),
    );
    add(
      "ConfigurationErrors",
      "Stripe refused the API key, or there is none. No payment succeeds until the secret holds a valid key with the right permissions.",
      count(worker, "ConfigurationError", MINUTES_5),
    );
    add(
      "Takeovers",
      "In 15 minutes, more than 10 claims and more than 1 % of deliveries were taken over. An occasional crash or failed call is normal; this is a pattern. Look for timeouts and memory in the function's log, and at failures by kind on the dashboard.",
      new cloudwatch.MathExpression({
        expression: "IF(takeovers > 10 AND takeovers > 0.01 * deliveries, 1, 0)",
        usingMetrics: {
          takeovers: count(worker, "Takeover", MINUTES_15),
          deliveries: queue.metricNumberOfMessagesReceived(SUM_15),
        },
        period: MINUTES_15,
        label: "Takeovers above normal",
      }),
    );
    add(
      "LeasesLost",
      "A worker outlived its lease, which should be impossible. Even one means that a clock is wrong or that a host was paused. No payment was charged twice because of it; find the cause before it happens again.",
      count(worker, "LeaseLost", MINUTES_5),
    );
    add(
      "Throttles",
      "Lambda throttled the function, although its reserved concurrency covers the event source. Each throttled batch uses up one receive of its messages. Look at the account's concurrency quota.",
      worker.function.metricThrottles(SUM_5),
    );
    add(
      "Errors",
      "The function failed in three consecutive periods of 5 minutes. It fails when Stripe or DynamoDB was unavailable for a whole batch, and a blip is over by the next backoff, so this is an outage or a crash. Look at failures by kind on the dashboard.",
      worker.function.metricErrors(SUM_5),
      { periods: 3 },
    );
    add(
      "NearTimeout",
      "An invocation took at least 90 % of the function's timeout. It stops by itself before that, so a call hung longer than its own timeout, or the function has too little memory. An invocation that times out loses nothing, but its messages wait for the lease. Look at the time of claim, charge and complete in the log.",
      worker.function.metricDuration(MAXIMUM_5),
      { threshold: NEAR_TIMEOUT * timings.functionTimeoutMs },
    );
    add(
      "TableErrors",
      "In three consecutive periods of 5 minutes, DynamoDB throttled writes to the records table or failed on its side. The SDK's retries cover single ones. Payments are late, and messages use up receives. Look at the table's limits (maximum throughput, account quota), and at AWS's health dashboard.",
      sum("Throttled or failed writes", MINUTES_5, {
        throttled: table.metric("WriteThrottleEvents", SUM_5),
        ...systemErrors(table),
      }),
      { periods: 3 },
    );
    add(
      "NoSuccess",
      "At least 10 messages were received in 15 minutes, and no payment succeeded or is processing. That many declines, duplicates and retries in a row are no coincidence: look at decisions and failures by kind in the log.",
      new cloudwatch.MathExpression({
        expression: "IF(received >= 10 AND FILL(succeeded, 0) + FILL(processing, 0) == 0, 1, 0)",
        usingMetrics: {
          received: queue.metricNumberOfMessagesReceived(SUM_15),
          succeeded: count(worker, "Succeeded", MINUTES_15),
          processing: count(worker, "Processing", MINUTES_15),
        },
        period: MINUTES_15,
        label: "Load without a success",
      }),
    );
    if (!noTrafficFor) return;
    add(
      "NoTraffic",
      `No message was sent to the payment queue for ${noTrafficFor.toHumanString()}, although there should be some. Look at the senders: their permission to send, and to use the queue's key, and what they sent to before.`,
      new cloudwatch.MathExpression({
        expression: "IF(sent > 0, 0, 1)",
        usingMetrics: {
          sent: queue.metricNumberOfMessagesSent({ period: noTrafficFor, statistic: "Sum" }),
        },
        period: noTrafficFor,
        label: "Nothing sent",
      }),
      // SQS reports nothing of a queue that has been idle for hours.
      { treatMissingData: cloudwatch.TreatMissingData.BREACHING },
    );
  }
}

/** DynamoDB's own failures of the two calls that the worker makes. */
function systemErrors(table: dynamodb.ITable): Record<string, cloudwatch.IMetric> {
  const of = (Operation: dynamodb.Operation) =>
    table.metric("SystemErrors", {
      ...SUM_5,
      dimensionsMap: { TableName: table.tableName, Operation },
    });
  return {
    failedPuts: of(dynamodb.Operation.PUT_ITEM),
    failedUpdates: of(dynamodb.Operation.UPDATE_ITEM),
  };
}
