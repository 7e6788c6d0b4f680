// An alarm as a CloudFormation template defines it.
// https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-resource-cloudwatch-alarm.html

export type Stat = {
  metric: string;
  /** The values of its dimensions, in the order of their names: "payments-dlq", "PutItem/records". */
  of: string;
  statistic: "Sum" | "Maximum";
};

export type AlarmDefinition = {
  name: string;
  description: string;
  /** Fires at this value. */
  threshold: number;
  periodSeconds: number;
  /** How many periods in a row. */
  periods: number;
  /** What a period without data counts as. */
  missing: "breaching" | "notBreaching" | "ignore";
  /** One metric, or an expression over several. */
  value: Stat | { expression: string; stats: Readonly<Record<string, Stat>> };
};

type Dimension = { Name: string; Value: unknown };
type Metric = { MetricName: string; Dimensions: Dimension[] };
type Query = {
  Id: string;
  Expression?: string;
  MetricStat?: { Metric: Metric; Period: number; Stat: Stat["statistic"] };
};
export type AlarmProperties = Partial<Metric> & {
  AlarmDescription: string;
  Threshold: number;
  EvaluationPeriods: number;
  ComparisonOperator: string;
  TreatMissingData: AlarmDefinition["missing"];
  Period?: number;
  Statistic?: Stat["statistic"];
  Metrics?: Query[];
};

/**
 * Reads an alarm's properties. `nameOf` resolves the value of a dimension: a string, or a reference.
 *
 * @throws for an alarm of a kind that this project has none of
 */
export function readAlarm(
  name: string,
  properties: AlarmProperties,
  nameOf: (value: unknown) => string,
): AlarmDefinition {
  const { Metrics = [], MetricName = "", Dimensions = [], Statistic = "Sum" } = properties;
  const statOf = (metric: Metric, statistic: Stat["statistic"]): Stat => ({
    metric: metric.MetricName,
    of: metric.Dimensions.toSorted((a, b) => (a.Name < b.Name ? -1 : 1))
      .map(({ Value }) => nameOf(Value))
      .join("/"),
    statistic,
  });
  if (properties.ComparisonOperator !== "GreaterThanOrEqualToThreshold") {
    throw new Error(`${name} compares by ${properties.ComparisonOperator}.`);
  }
  const expression = Metrics.find(({ Expression }) => Expression !== undefined)?.Expression;
  const stats = Metrics.flatMap(({ Id, MetricStat }) =>
    MetricStat ? [[Id, statOf(MetricStat.Metric, MetricStat.Stat)] as const] : [],
  );
  return {
    name,
    description: properties.AlarmDescription,
    threshold: properties.Threshold,
    periodSeconds:
      properties.Period ?? Metrics.find(({ MetricStat }) => MetricStat)?.MetricStat?.Period ?? 60,
    periods: properties.EvaluationPeriods,
    missing: properties.TreatMissingData,
    value:
      expression === undefined
        ? statOf({ MetricName, Dimensions }, Statistic)
        : { expression, stats: Object.fromEntries(stats) },
  };
}
