// CloudWatch's embedded metric format: metrics that ride on a JSON log line.
// https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/CloudWatch_Embedded_Metric_Format_Specification.html

import { METRICS_NAMESPACE } from "../metrics.ts";
import type { MetricDimension, MetricName } from "../metrics.ts";

export type LogLine = { [field: string]: unknown };

export type Metric = {
  name: MetricName;
  unit: "Count" | "Milliseconds";
  value: number;
  by?: MetricDimension;
};

export function count(name: MetricName, by?: MetricDimension): Metric {
  return { name, unit: "Count", value: 1, ...(by && { by }) };
}

/**
 * The fields that make metrics of a line, each by function. `now` is in epoch ms.
 *
 * One directive for all that are split alike. In a common one, CloudWatch would split the others by
 * that field too, each a metric more that is paid for.
 */
export function embedMetrics(
  metrics: readonly Metric[],
  functionName: string,
  now: number,
): LogLine {
  const alike = Object.groupBy(metrics, ({ by = "" }) => by);
  const directives = Object.entries(alike).map(([by, group = []]) => ({
    Namespace: METRICS_NAMESPACE,
    Dimensions: [["FunctionName"], ...(by ? [["FunctionName", by]] : [])],
    Metrics: group.map(({ name, unit }) => ({ Name: name, Unit: unit })),
  }));
  return {
    FunctionName: functionName,
    _aws: { Timestamp: now, CloudWatchMetrics: directives },
    ...Object.fromEntries(metrics.map(({ name, value }) => [name, value])),
  };
}
