// What wakes an operator: each description says what the alarm means and what to do first.

import { Duration } from "aws-cdk-lib";
import * as cloudwatch from "aws-cdk-lib/aws-cloudwatch";
import { SnsAction } from "aws-cdk-lib/aws-cloudwatch-actions";
import type * as sns from "aws-cdk-lib/aws-sns";
import { Construct } from "constructs";

import type { Timings } from "../lib/timing/timing.ts";
import { count, maximum } from "./metrics.ts";
import type { QueueConsumer } from "./queue-consumer.ts";

export interface AlarmsProps {
  readonly worker: QueueConsumer;
  readonly timings: Timings;
  /** Told of every alarm and of its end. Absent: the alarms show on the dashboard only. */
  readonly topic?: sns.ITopic;
}

const seconds = (ms: number): number => Math.floor(ms / 1_000);
const MINUTES_1 = Duration.minutes(1);
const MINUTES_5 = Duration.minutes(5);
const MINUTES_15 = Duration.minutes(15);

// With the shipped backoff, 8 to 16 minutes after the first: longer than a blip.
const FAILED_RECEIVES = 6;

export class Alarms extends Construct {
  readonly all: cloudwatch.Alarm[] = [];
  private readonly topic: sns.ITopic | undefined;

  constructor(scope: Construct, id: string, { worker, timings, topic }: AlarmsProps) {
    super(scope, id);
    this.topic = topic;
    const { queue, deadLetterQueue } = worker.queues;
    // Before the last one, after which the dead-letter queue tells of it.
    const failedReceives = Math.min(FAILED_RECEIVES, timings.maxReceiveCount - 1);

    this.add(
      "DeadLetters",
      "A payment waits in the dead-letter queue: one is enough, for nothing will happen to it until an operator reads why (message id in the log) and redrives or answers it.",
      deadLetterQueue.metricApproximateNumberOfMessagesVisible({
        period: MINUTES_1,
        statistic: "Maximum",
      }),
      { threshold: 1, treatMissingData: cloudwatch.TreatMissingData.IGNORE },
    );
    this.add(
      "DeadLettersExpiring",
      "SQS will soon delete a payment from the dead-letter queue. It may have spent the whole retention of the first queue there, so the threshold is half of what then remains; the other half is the operator's.",
      deadLetterQueue.metricApproximateAgeOfOldestMessage({
        period: MINUTES_5,
        statistic: "Maximum",
      }),
      {
        threshold: seconds((timings.deadLetterRetentionMs - timings.queueRetentionMs) / 2),
        treatMissingData: cloudwatch.TreatMissingData.IGNORE,
      },
    );
    this.add(
      "QueueAge",
      "A payment has waited longer than the longest backoff and one visibility timeout together, the most that a queue in service imposes: look for throttles, a disabled event source, or more payments than Stripe's rate allows. SQS leaves out of this age what was received three times: see KeepsFailing.",
      queue.metricApproximateAgeOfOldestMessage({ period: MINUTES_1, statistic: "Maximum" }),
      { threshold: seconds(timings.backoffCapMs + timings.visibilityTimeoutMs) + 1, periods: 5 },
    );
    this.add(
      "KeepsFailing",
      `A payment has no outcome after ${failedReceives} receives, longer than a blip of Stripe or DynamoDB lasts: an outage, or something that this one message meets each time. The log tells of which kind.`,
      maximum(worker, "FailedReceive", MINUTES_15),
      { threshold: failedReceives },
    );
    this.add(
      "Conflicts",
      "Two different payments came under one message id and the second was not charged: one is a sender's bug that will repeat. Find both by the message id in the log.",
      count(worker, "Conflict", MINUTES_5),
      { threshold: 1 },
    );
    this.add(
      "InvalidMessages",
      "A message broke a rule of its format, or Stripe rejected it as invalid: one is a payment that nobody will make. The log names the field and the rule.",
      sum("Invalid and rejected", MINUTES_5, {
        invalid: count(worker, "Invalid", MINUTES_5),
        rejected: count(worker, "Rejected", MINUTES_5),
      }),
      { threshold: 1 },
    );
    this.add(
      "ConfigurationErrors",
      "Stripe refused the API key: one refusal means that no payment succeeds until the secret holds a valid key with the right permissions.",
      count(worker, "ConfigurationError", MINUTES_5),
      { threshold: 1 },
    );
    this.add(
      "Takeovers",
      "More than 10 claims, and more than one in a hundred deliveries, were taken over in 15 minutes: a crash or a failed call now and then is normal, this is a pattern. Look for timeouts and memory in the function's log, and at failures by kind.",
      new cloudwatch.MathExpression({
        expression: "IF(takeovers > 10 AND takeovers > 0.01 * deliveries, 1, 0)",
        usingMetrics: {
          takeovers: count(worker, "Takeover", MINUTES_15),
          deliveries: queue.metricNumberOfMessagesReceived({
            period: MINUTES_15,
            statistic: "Sum",
          }),
        },
        period: MINUTES_15,
        label: "Takeovers above normal",
      }),
      { threshold: 1 },
    );
    this.add(
      "LeasesLost",
      "A worker outlived its lease, which the timings forbid: one means that a clock is wrong or that a host stood still. The promise still held; find the cause before it repeats.",
      count(worker, "LeaseLost", MINUTES_5),
      { threshold: 1 },
    );
    this.add(
      "Throttles",
      "Lambda throttled the function, although its reserved concurrency covers the event source: one throttled batch uses up a receive of each message. Look at the account's concurrency quota.",
      worker.function.metricThrottles({ period: MINUTES_5, statistic: "Sum" }),
      { threshold: 1 },
    );
    this.add(
      "Errors",
      "The function failed in three periods of 5 minutes in a row: it fails once when Stripe or DynamoDB was away for a whole batch, and a blip is over by the next backoff. Look at failures by kind.",
      worker.function.metricErrors({ period: MINUTES_5, statistic: "Sum" }),
      { threshold: 1, periods: 3 },
    );
    this.add(
      "NoSuccess",
      "At least 10 messages were received in 15 minutes and no payment succeeded or is being processed: that many declines, duplicates and retries in a row are not chance.",
      new cloudwatch.MathExpression({
        expression: "IF(received >= 10 AND FILL(succeeded, 0) + FILL(processing, 0) == 0, 1, 0)",
        usingMetrics: {
          received: queue.metricNumberOfMessagesReceived({ period: MINUTES_15, statistic: "Sum" }),
          succeeded: count(worker, "Succeeded", MINUTES_15),
          processing: count(worker, "Processing", MINUTES_15),
        },
        period: MINUTES_15,
        label: "Load without a success",
      }),
      { threshold: 1 },
    );
  }

  private add(
    id: string,
    alarmDescription: string,
    metric: cloudwatch.IMetric,
    {
      threshold,
      periods = 1,
      treatMissingData = cloudwatch.TreatMissingData.NOT_BREACHING,
    }: { threshold: number; periods?: number; treatMissingData?: cloudwatch.TreatMissingData },
  ): void {
    const alarm = new cloudwatch.Alarm(this, id, {
      alarmDescription,
      metric,
      threshold,
      evaluationPeriods: periods,
      comparisonOperator: cloudwatch.ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
      treatMissingData,
    });
    if (this.topic) {
      alarm.addAlarmAction(new SnsAction(this.topic));
      alarm.addOkAction(new SnsAction(this.topic));
    }
    this.all.push(alarm);
  }
}

/** The metrics' sum, which is a number as soon as one of them is. */
function sum(
  label: string,
  period: Duration,
  metrics: Record<string, cloudwatch.IMetric>,
): cloudwatch.MathExpression {
  return new cloudwatch.MathExpression({
    expression: Object.keys(metrics)
      .map((name) => `FILL(${name}, 0)`)
      .join(" + "),
    usingMetrics: metrics,
    period,
    label,
  });
}
