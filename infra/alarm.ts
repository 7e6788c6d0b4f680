// The one way in which an alarm is made, and what several parts of the service have alarms on.

import { Duration } from "aws-cdk-lib";
import * as cloudwatch from "aws-cdk-lib/aws-cloudwatch";
import { SnsAction } from "aws-cdk-lib/aws-cloudwatch-actions";
import type * as sns from "aws-cdk-lib/aws-sns";
import type * as sqs from "aws-cdk-lib/aws-sqs";
import type { Construct } from "constructs";

import type { QueueTimings } from "../lib/timing/queue.ts";

export interface Notified {
  /** Notified when an alarm fires and when it clears. Absent: alarms show on the dashboard only. */
  readonly alarmTopic?: sns.ITopic;
  /** What else happens when an alarm fires and when it clears. */
  readonly alarmActions?: readonly cloudwatch.IAlarmAction[];
}

export interface Condition {
  /** Default 1. */
  readonly threshold?: number;
  /** Consecutive periods, default 1. */
  readonly periods?: number;
  /** Default: all is well. */
  readonly treatMissingData?: cloudwatch.TreatMissingData;
}

/** Adds an alarm; its description says what it means and what to do first. */
export type AddAlarm = (
  id: string,
  alarmDescription: string,
  metric: cloudwatch.IMetric,
  condition?: Condition,
) => cloudwatch.Alarm;

export function alarmsOf(scope: Construct, notified: Notified): AddAlarm {
  const { alarmTopic, alarmActions = [] } = notified;
  const actions = [...(alarmTopic ? [new SnsAction(alarmTopic)] : []), ...alarmActions];
  return (id, alarmDescription, metric, condition = {}) => {
    const { threshold = 1, periods = 1, treatMissingData } = condition;
    const alarm = new cloudwatch.Alarm(scope, id, {
      alarmDescription,
      metric,
      threshold,
      evaluationPeriods: periods,
      comparisonOperator: cloudwatch.ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
      treatMissingData: treatMissingData ?? cloudwatch.TreatMissingData.NOT_BREACHING,
    });
    alarm.addAlarmAction(...actions);
    alarm.addOkAction(...actions);
    return alarm;
  };
}

/** Fires at the first message in a queue that should be empty. */
export const anyMessage = (queue: sqs.IQueue): [cloudwatch.IMetric, Condition] => [
  queue.metricApproximateNumberOfMessagesVisible({
    period: Duration.minutes(1),
    statistic: "Maximum",
  }),
  { treatMissingData: cloudwatch.TreatMissingData.IGNORE },
];

/** Fires when a message is older than the longest backoff plus one visibility timeout allow. */
export const late = (queue: sqs.IQueue, timings: QueueTimings): [cloudwatch.IMetric, Condition] => [
  queue.metricApproximateAgeOfOldestMessage({ period: Duration.minutes(1), statistic: "Maximum" }),
  {
    threshold: Math.floor((timings.backoffCapMs + timings.visibilityTimeoutMs) / 1_000) + 1,
    periods: 5,
  },
];

/** The metrics' sum, which is a number as soon as one of them is. */
export function sum(
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
