import { App, RemovalPolicy, Stack } from "aws-cdk-lib";
import { Template } from "aws-cdk-lib/assertions";
import type { Construct } from "constructs";

import cdk from "../../cdk.json" with { type: "json" };
import { PaymentWorker } from "../../infra/payment-worker.ts";
import type { PaymentWorkerProps } from "../../infra/payment-worker.ts";
import type { Stage } from "../../infra/stages.ts";
import { TIMINGS } from "../support/timings.ts";

// CDK's own validator takes seconds; `cdk synth` runs it, a template test gains nothing from it.
process.env["CDK_VALIDATION"] = "false";

// The stages of infra/stages.ts before anybody has set anything there, written out: what a test
// expects of them stays true when someone does.
export const DEV: Stage = {
  name: "dev",
  stripeMode: "test",
  removalPolicy: RemovalPolicy.DESTROY,
  customerManagedKey: false,
  reserveConcurrency: false,
};
export const PROD: Stage = {
  name: "prod",
  stripeMode: "live",
  removalPolicy: RemovalPolicy.RETAIN,
  customerManagedKey: true,
  reserveConcurrency: true,
};

/** An app with the feature flags that a deployment has. */
export function newApp(outdir?: string): App {
  return new App({ context: cdk.context, ...(outdir && { outdir }) });
}

/** The template of a stack that holds one `paymentWorker` and what `props` adds to the stack. */
export function templateOf(
  props: (stack: Stack) => Partial<PaymentWorkerProps> = () => ({}),
): Template {
  const stack = new Stack(newApp(), "Stack");
  paymentWorker(stack, props(stack));
  return Template.fromStack(stack);
}

/** A payment worker with the timings of test/support/timings.ts, but for what `props` changes. */
export function paymentWorker(
  scope: Construct,
  props: Partial<PaymentWorkerProps> = {},
): PaymentWorker {
  return new PaymentWorker(scope, "PaymentWorker", {
    removalPolicy: RemovalPolicy.DESTROY,
    ...props,
    timings: { ...TIMINGS, ...props.timings },
  });
}

/** The properties of every resource of a type, in the order of the template. */
export function propertiesOf(template: Template, type: string): Record<string, unknown>[] {
  return Object.values(template.findResources(type)).map((resource) => resource["Properties"]);
}

type Statement = { Sid: string; Resource: unknown };

/** The statements of the function's policy, by their sid. */
export function statementsOf(template: Template): Record<string, Statement> {
  const policies = propertiesOf(template, "AWS::IAM::ManagedPolicy") as {
    PolicyDocument: { Statement: Statement[] };
  }[];
  return Object.fromEntries(
    policies
      .flatMap(({ PolicyDocument }) => PolicyDocument.Statement)
      .map((statement) => [statement.Sid, statement]),
  );
}

type Query = {
  Id: string;
  Expression?: string;
  MetricStat?: { Metric: { MetricName: string; Namespace: string }; Period: number; Stat: string };
};
export type Alarm = {
  MetricName?: string;
  Dimensions?: { Name: string; Value: unknown }[];
  Period?: number;
  Statistic?: string;
  Threshold: number;
  EvaluationPeriods: number;
  ComparisonOperator: string;
  TreatMissingData: string;
  AlarmDescription: string;
  Metrics?: Query[];
};

/** The alarm whose construct has this id. */
export function alarmOf(template: Template, name: string): Alarm {
  const [, alarm] =
    Object.entries(template.findResources("AWS::CloudWatch::Alarm")).find(([id]) =>
      new RegExp(`${name}[0-9A-F]{8}$`).test(id),
    ) ?? [];
  return alarm?.["Properties"] as Alarm;
}

/** An alarm's formula, with the names of the metrics that its variables stand for. */
export function formulaOf({ Metrics = [] }: Alarm): string {
  const formula = Metrics.find((query) => query.Expression)?.Expression ?? "";
  return Metrics.reduce(
    (text, { Id, MetricStat }) =>
      MetricStat
        ? text.replaceAll(new RegExp(`\\b${Id}\\b`, "g"), MetricStat.Metric.MetricName)
        : text,
    formula,
  );
}
