// The dashboard, in the order of an operator's questions: are customers being charged, is anything stuck, and is Stripe, AWS or a sender the cause.

import { Aws, Duration, Names } from "aws-cdk-lib";
import * as cloudwatch from "aws-cdk-lib/aws-cloudwatch";
import type * as dynamodb from "aws-cdk-lib/aws-dynamodb";
import type * as sqs from "aws-cdk-lib/aws-sqs";
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
        widget(12, {
          title: "Outcomes",
          left: counted("Succeeded", "Processing", "RequiresAction", "Declined"),
          stacked: true,
        }),
        widget(6, {
          title: "From claim to outcome (ms)",
          left: ["p50", "p90", "p99"].map((p) => claimToComplete(worker, p, PERIOD)),
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
        widget(8, {
          title: "Queue",
          left: [
            waiting(queue),
            queue.metricApproximateNumberOfMessagesNotVisible({ ...MAXIMUM, label: "in flight" }),
          ],
          right: [oldest(queue)],
        }),
        widget(
          8,
          graph("Dead-letter queue", [waiting(deadLetterQueue)], [oldest(deadLetterQueue)]),
        ),
        widget(8, {
          title: "Deliveries without an outcome",
          left: counted("TransientFailure", "InProgress", "NotStarted", "LeaseLost", "Takeover"),
        }),
      ],
      heading("Is Stripe, AWS or a sender the cause?"),
      [
        widget(6, {
          title: "Failures by kind",
          left: [countBy(worker, "TransientFailure", "kind", PERIOD)],
        }),
        widget(6, {
          title: "Invalid, conflicts, rejected",
          left: [countBy(worker, "Invalid", "rule", PERIOD), ...counted("Conflict", "Rejected")],
        }),
        widget(6, {
          title: "Function",
          left: [
            worker.function.metricErrors({ ...total, label: "errors" }),
            worker.function.metricThrottles({ ...total, label: "throttles" }),
          ],
          right: [worker.function.metricDuration({ ...MAXIMUM, label: "longest (ms)" })],
        }),
        widget(6, {
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
        }),
      ],
    ],
  });
}

const heading = (question: string): cloudwatch.IWidget[] => [
  new cloudwatch.TextWidget({ markdown: `## ${question}`, width: 24, height: 1 }),
];

const size = (width: number) => ({ width, height: HEIGHT });
const widget = (width: number, props: cloudwatch.GraphWidgetProps) =>
  new cloudwatch.GraphWidget({ ...props, ...size(width) });

const MAXIMUM = { period: PERIOD, statistic: "Maximum" };
const waiting = (queue: sqs.IQueue, label = "waiting") =>
  queue.metricApproximateNumberOfMessagesVisible({ ...MAXIMUM, label });
const oldest = (queue: sqs.IQueue) =>
  queue.metricApproximateAgeOfOldestMessage({ ...MAXIMUM, label: "oldest (s)" });

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
    ...graphs.map((props) => widget(6, props)),
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
export const queueGraph = (
  title: string,
  { queue, deadLetterQueue }: Queues,
): cloudwatch.GraphWidgetProps =>
  graph(title, [waiting(queue), waiting(deadLetterQueue, "dead letters")], [oldest(queue)]);
