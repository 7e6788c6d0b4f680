// The metrics that functions write into their logs, as CloudWatch sees them.

import type { Duration } from "aws-cdk-lib";
import * as cloudwatch from "aws-cdk-lib/aws-cloudwatch";
import type * as lambda from "aws-cdk-lib/aws-lambda";

import { METRICS_NAMESPACE } from "../lib/metrics.ts";
import type { MetricDimension, MetricName } from "../lib/metrics.ts";

/** What writes them. */
type Writer = { readonly function: lambda.IFunction };

/** How often something happened in a period. */
export function count(writer: Writer, metricName: MetricName, period: Duration): cloudwatch.Metric {
  return metricOf(writer, { metricName, period, statistic: "Sum" });
}

/** The greatest value in a period. */
export function maximum(
  writer: Writer,
  metricName: MetricName,
  period: Duration,
): cloudwatch.Metric {
  return metricOf(writer, { metricName, period, statistic: "Maximum" });
}

/** Time from claim to recorded outcome, in ms; `statistic` is a percentile such as `p99`. */
export function claimToComplete(
  writer: Writer,
  statistic: string,
  period: Duration,
): cloudwatch.Metric {
  return metricOf(writer, { metricName: "ClaimToComplete", period, statistic, label: statistic });
}

/** A counter split by one more dimension: every value that occurred is a line of its own. */
export function countBy(
  writer: Writer,
  metricName: MetricName,
  dimension: MetricDimension,
  period: Duration,
): cloudwatch.MathExpression {
  const schema = `{${METRICS_NAMESPACE},FunctionName,${dimension}}`;
  const where = `MetricName="${metricName}" FunctionName="${writer.function.functionName}"`;
  return new cloudwatch.MathExpression({
    expression: `SEARCH('${schema} ${where}', 'Sum', ${period.toSeconds()})`,
    period,
    label: "",
  });
}

function metricOf(
  writer: Writer,
  props: Omit<cloudwatch.MetricProps, "namespace" | "dimensionsMap">,
): cloudwatch.Metric {
  return new cloudwatch.Metric({
    ...props,
    namespace: METRICS_NAMESPACE,
    dimensionsMap: { FunctionName: writer.function.functionName },
  });
}
