// The dashboard, in the order of an operator's questions: are customers being charged, is anything stuck, and is Stripe, AWS or a sender the cause.

import { Aws, Duration, Names } from "aws-cdk-lib";
import * as cloudwatch from "aws-cdk-lib/aws-cloudwatch";
import type * as dynamodb from "aws-cdk-lib/aws-dynamodb";
import type { Construct } from "constructs";

import type { MetricName } from "../lib/metrics.ts";
import { claimToComplete, count, countBy } from "./metrics.ts";
import type { QueueConsumer } from "./queue-consumer.ts";
import type { Queues } from "./queues.ts";

export interface DashboardProps {
  readonly worker: QueueConsumer;
  readonly table: dynamodb.ITable;
  readonly alarms: readonly cloudwatch.IAlarm[];
}

export const PERIOD = Duration.minutes(5);
const HEIGHT = 6;

export function dashboard(
  scope: Construct,
  id: string,
  props: DashboardProps,
): cloudwatch.Dashboard {
  const { worker, table, alarms } = props;
  const { queue, deadLetterQueue } = worker.queues;
  const counted = (...names: MetricName[]) => counts(worker, names);
  const maximum = { period: PERIOD, statistic: "Maximum" };
  const total = { period: PERIOD, statistic: "Sum" };

  // Dashboards are listed by name alone, for all regions of an account together.
  const name = Names.uniqueResourceName(scope, { maxLength: 200, separator: "-" });
  return new cloudwatch.Dashboard(scope, id, {
    dashboardName: `${name}-${Aws.REGION}`,
    defaultInterval: Duration.hours(12),
    widgets: [
      [
        new cloudwatch.AlarmStatusWidget({
          title: "Alarms",
          alarms: [...alarms],
          width: 24,
          height: 3,
        }),
      ],
      heading("Are customers being charged?"),
      [
        new cloudwatch.GraphWidget({
          title: "Outcomes",
          left: counted("Succeeded", "Processing", "RequiresAction", "Declined"),
          stacked: true,
          ...size(12),
        }),
        new cloudwatch.GraphWidget({
          title: "From claim to outcome (ms)",
          left: ["p50", "p90", "p99"].map((p) => claimToComplete(worker, p, PERIOD)),
          ...size(6),
        }),
        new cloudwatch.SingleValueWidget({
          title: "In this period",
          metrics: counted("Succeeded", "Declined", "Duplicate"),
          setPeriodToTimeRange: true,
          ...size(6),
        }),
      ],
      heading("Is anything stuck?"),
      [
        new cloudwatch.GraphWidget({
          title: "Queue",
          left: [
            queue.metricApproximateNumberOfMessagesVisible({ ...maximum, label: "waiting" }),
            queue.metricApproximateNumberOfMessagesNotVisible({ ...maximum, label: "in flight" }),
          ],
          right: [queue.metricApproximateAgeOfOldestMessage({ ...maximum, label: "oldest (s)" })],
          ...size(8),
        }),
        new cloudwatch.GraphWidget({
          title: "Dead-letter queue",
          left: [
            deadLetterQueue.metricApproximateNumberOfMessagesVisible({
              ...maximum,
              label: "waiting",
            }),
          ],
          right: [
            deadLetterQueue.metricApproximateAgeOfOldestMessage({
              ...maximum,
              label: "oldest (s)",
            }),
          ],
          ...size(8),
        }),
        new cloudwatch.GraphWidget({
          title: "Deliveries without an outcome",
          left: counted("TransientFailure", "InProgress", "NotStarted", "LeaseLost", "Takeover"),
          ...size(8),
        }),
      ],
      heading("Is Stripe, AWS or a sender the cause?"),
      [
        new cloudwatch.GraphWidget({
          title: "Failures by kind",
          left: [countBy(worker, "TransientFailure", "kind", PERIOD)],
          ...size(6),
        }),
        new cloudwatch.GraphWidget({
          title: "Invalid, conflicts, rejected",
          left: [countBy(worker, "Invalid", "rule", PERIOD), ...counted("Conflict", "Rejected")],
          ...size(6),
        }),
        new cloudwatch.GraphWidget({
          title: "Function",
          left: [
            worker.function.metricErrors({ ...total, label: "errors" }),
            worker.function.metricThrottles({ ...total, label: "throttles" }),
          ],
          right: [worker.function.metricDuration({ ...maximum, label: "longest (ms)" })],
          ...size(6),
        }),
        new cloudwatch.GraphWidget({
          title: "Table",
          left: [table.metric("WriteThrottleEvents", { ...total, label: "throttled writes" })],
          right: ["PutItem", "UpdateItem"].map((operation) =>
            table.metricSuccessfulRequestLatency({
              period: PERIOD,
              statistic: "p99",
              label: `${operation} p99 (ms)`,
              dimensionsMap: { Operation: operation },
            }),
          ),
          ...size(6),
        }),
      ],
    ],
  });
}

const heading = (question: string): cloudwatch.IWidget[] => [
  new cloudwatch.TextWidget({ markdown: `## ${question}`, width: 24, height: 1 }),
];

const size = (width: number) => ({ width, height: HEIGHT });

/**
 * A row for a part around the worker, below the worker's own: its alarms (also those that are added later),
 * and up to three graphs.
 */
export function addPart(
  board: cloudwatch.Dashboard,
  question: string,
  alarms: cloudwatch.IAlarm[],
  graphs: cloudwatch.GraphWidgetProps[],
): void {
  board.addWidgets(...heading(question));
  board.addWidgets(
    new cloudwatch.AlarmStatusWidget({ title: "Alarms", alarms, ...size(6) }),
    ...graphs.map((props) => new cloudwatch.GraphWidget({ ...props, ...size(6) })),
  );
}

export const counts = (writer: Parameters<typeof count>[0], names: MetricName[]) =>
  names.map((name) => count(writer, name, PERIOD));

export const graph = (
  title: string,
  left: cloudwatch.IMetric[],
  right: cloudwatch.IMetric[] = [],
): cloudwatch.GraphWidgetProps => ({ title, left, right });

/** What waits in a queue and its dead-letter queue, and for how long. */
export const queueGraph = (title: string, queues: Queues): cloudwatch.GraphWidgetProps => {
  const maximum = { period: PERIOD, statistic: "Maximum" };
  const { queue, deadLetterQueue } = queues;
  return graph(
    title,
    [
      queue.metricApproximateNumberOfMessagesVisible({ ...maximum, label: "waiting" }),
      deadLetterQueue.metricApproximateNumberOfMessagesVisible({
        ...maximum,
        label: "dead letters",
      }),
    ],
    [queue.metricApproximateAgeOfOldestMessage({ ...maximum, label: "oldest (s)" })],
  );
};
