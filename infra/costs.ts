import { Duration } from "aws-cdk-lib";
import * as cloudwatch from "aws-cdk-lib/aws-cloudwatch";
import type * as dynamodb from "aws-cdk-lib/aws-dynamodb";

import { MEMORY_MB } from "./queue-consumer.ts";
import type { Worker } from "./queue-consumer.ts";

const PERIOD = Duration.hours(1);
const SUM = { period: PERIOD, statistic: "Sum" };

/**
 * What the traffic costs, in dollars an hour by AWS's list prices for us-east-1 in November 2026: without
 * free tiers, Stripe's fees, and what a month costs at rest (the secret, a key, alarms and metrics).
 */
export function costs(
  worker: Worker,
  table: dynamodb.Table,
  size: { width: number; height: number },
): cloudwatch.IWidget {
  const { queue } = worker.queues;
  return new cloudwatch.GraphWidget({
    title: "Dollars an hour (us-east-1 list prices)",
    stacked: true,
    left: [
      // $0.20 a million calls, and $0.0000133334 a GB-second on arm64; durations are in ms
      dollars("Lambda", `(0.2 * calls + 13.3334 * ${MEMORY_MB / 1024} * ms / 1000) / 1000000`, {
        calls: worker.function.metricInvocations(SUM),
        ms: worker.function.metricDuration(SUM),
      }),
      // $0.625 a million write units
      dollars("DynamoDB", "0.625 * units / 1000000", {
        units: table.metricConsumedWriteCapacityUnits(SUM),
      }),
      // $0.40 a million requests; a request may carry ten messages, so this is the most it can be
      dollars("SQS", "0.4 * (sent + received + empty + deleted) / 1000000", {
        sent: queue.metricNumberOfMessagesSent(SUM),
        received: queue.metricNumberOfMessagesReceived(SUM),
        empty: queue.metricNumberOfEmptyReceives(SUM),
        deleted: queue.metricNumberOfMessagesDeleted(SUM),
      }),
      // $0.50 a GB
      dollars("Logs", "0.5 * bytes / 1000000000", {
        bytes: worker.logGroup.metricIncomingBytes(SUM),
      }),
    ],
    ...size,
  });
}

function dollars(
  label: string,
  expression: string,
  usingMetrics: Record<string, cloudwatch.IMetric>,
): cloudwatch.MathExpression {
  return new cloudwatch.MathExpression({ label, expression, usingMetrics, period: PERIOD });
}
