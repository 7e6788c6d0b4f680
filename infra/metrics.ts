// The metrics that the worker writes into its log, as CloudWatch sees them.

import type { Duration } from "aws-cdk-lib";
import * as cloudwatch from "aws-cdk-lib/aws-cloudwatch";

import { METRICS_NAMESPACE } from "../lib/metrics.ts";
import type { MetricDimension, MetricName } from "../lib/metrics.ts";
import type { QueueConsumer } from "./queue-consumer.ts";

/** How often something happened in a period. */
export function count(
  worker: QueueConsumer,
  metricName: MetricName,
  period: Duration,
): cloudwatch.Metric {
  return workerMetric(worker, { metricName, period, statistic: "Sum" });
}

/** The greatest value in a period. */
export function maximum(
  worker: QueueConsumer,
  metricName: MetricName,
  period: Duration,
): cloudwatch.Metric {
  return workerMetric(worker, { metricName, period, statistic: "Maximum" });
}

/** Time from claim to recorded outcome, in ms; `statistic` is a percentile such as `p99`. */
export function claimToComplete(
  worker: QueueConsumer,
  statistic: string,
  period: Duration,
): cloudwatch.Metric {
  return workerMetric(worker, {
    metricName: "ClaimToComplete",
    period,
    statistic,
    label: statistic,
  });
}

/** A counter split by one more dimension: every value that occurred is a line of its own. */
export function countBy(
  worker: QueueConsumer,
  metricName: MetricName,
  dimension: MetricDimension,
  period: Duration,
): cloudwatch.MathExpression {
  const schema = `{${METRICS_NAMESPACE},FunctionName,${dimension}}`;
  const where = `MetricName="${metricName}" FunctionName="${worker.function.functionName}"`;
  return new cloudwatch.MathExpression({
    expression: `SEARCH('${schema} ${where}', 'Sum', ${period.toSeconds()})`,
    period,
    label: "",
  });
}

function workerMetric(
  worker: QueueConsumer,
  props: Omit<cloudwatch.MetricProps, "namespace" | "dimensionsMap">,
): cloudwatch.Metric {
  return new cloudwatch.Metric({
    ...props,
    namespace: METRICS_NAMESPACE,
    dimensionsMap: { FunctionName: worker.function.functionName },
  });
}
