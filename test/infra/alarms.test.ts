import { RemovalPolicy, Stack } from "aws-cdk-lib";
import { Annotations, Match } from "aws-cdk-lib/assertions";
import * as sns from "aws-cdk-lib/aws-sns";
import { expect, test } from "vitest";

import { TIMINGS } from "../support/timings.ts";
import { newApp, paymentWorker, propertiesOf, templateOf } from "./synth.ts";

type Query = {
  Id: string;
  Expression?: string;
  MetricStat?: { Metric: { MetricName: string; Namespace: string }; Period: number; Stat: string };
};
type Alarm = {
  MetricName?: string;
  Namespace?: string;
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

const template = templateOf();

function alarm(name: string): Alarm {
  const logicalId = Object.keys(template.findResources("AWS::CloudWatch::Alarm")).find((id) =>
    new RegExp(`^PaymentWorkerAlarms${name}[0-9A-F]{8}$`).test(id),
  );
  return template.toJSON()["Resources"][logicalId ?? ""].Properties;
}

const queue = (logicalId: string) => [
  { Name: "QueueName", Value: { "Fn::GetAtt": [expect.stringContaining(logicalId), "QueueName"] } },
];
const ofFunction = [{ Name: "FunctionName", Value: { Ref: expect.stringContaining("Function") } }];

test("one message in the dead-letter queue is an alarm, and stays one when SQS stops reporting", () => {
  expect(alarm("DeadLetters")).toMatchObject({
    MetricName: "ApproximateNumberOfMessagesVisible",
    Dimensions: queue("DeadLetters"),
    Statistic: "Maximum",
    Threshold: 1,
    EvaluationPeriods: 1,
    TreatMissingData: "ignore",
  });
});

test("a dead letter is an alarm halfway to the earliest moment when SQS may delete it", () => {
  // 14 days less 4 that it may have spent in the first queue, and half of that: 5 days.
  expect(alarm("DeadLettersExpiring")).toMatchObject({
    MetricName: "ApproximateAgeOfOldestMessage",
    Dimensions: queue("DeadLetters"),
    Threshold: 432_000,
    TreatMissingData: "ignore",
  });
});

test("a message older than backoff and visibility timeout together, for five minutes, is an alarm", () => {
  expect(alarm("QueueAge")).toMatchObject({
    MetricName: "ApproximateAgeOfOldestMessage",
    Dimensions: queue("Payments"),
    Period: 60,
    Threshold: 1261,
    EvaluationPeriods: 5,
  });
});

test("a message without an outcome after six receives is an alarm", () => {
  expect(alarm("KeepsFailing")).toMatchObject({
    Namespace: "PaymentWorker",
    MetricName: "FailedReceive",
    Dimensions: ofFunction,
    Statistic: "Maximum",
    Period: 900,
    Threshold: 6,
    EvaluationPeriods: 1,
    TreatMissingData: "notBreaching",
  });
});

test("with fewer receives than that, it is one before the last", () => {
  const few = templateOf(() => ({
    timings: { ...TIMINGS, maxReceiveCount: 5, outageMs: 60_000 },
  }));

  const alarms = propertiesOf(few, "AWS::CloudWatch::Alarm") as unknown as Alarm[];
  expect(alarms.find(({ MetricName }) => MetricName === "FailedReceive")?.Threshold).toBe(4);
});

test.each([
  ["Conflicts", "Conflict"],
  ["ConfigurationErrors", "ConfigurationError"],
  ["LeasesLost", "LeaseLost"],
])("%s: one %s is an alarm", (name, metric) => {
  expect(alarm(name)).toMatchObject({
    Namespace: "PaymentWorker",
    MetricName: metric,
    Dimensions: ofFunction,
    Statistic: "Sum",
    Threshold: 1,
    EvaluationPeriods: 1,
    TreatMissingData: "notBreaching",
  });
});

test("one refusal, by the worker or by Stripe, is an alarm", () => {
  expect(expression("InvalidMessages")).toBe("FILL(Invalid, 0) + FILL(Rejected, 0)");
  expect(alarm("InvalidMessages")).toMatchObject({ Threshold: 1, EvaluationPeriods: 1 });
});

test("takeovers are an alarm above ten, and above one in a hundred deliveries", () => {
  expect(expression("Takeovers")).toBe(
    "IF(Takeover > 10 AND Takeover > 0.01 * NumberOfMessagesReceived, 1, 0)",
  );
});

test("ten deliveries without a payment that succeeded or is being processed are an alarm", () => {
  expect(expression("NoSuccess")).toBe(
    "IF(NumberOfMessagesReceived >= 10 AND FILL(Succeeded, 0) + FILL(Processing, 0) == 0, 1, 0)",
  );
});

test("one throttle is an alarm; errors are one after fifteen minutes", () => {
  expect(alarm("Throttles")).toMatchObject({
    MetricName: "Throttles",
    Dimensions: ofFunction,
    Threshold: 1,
    EvaluationPeriods: 1,
  });
  expect(alarm("Errors")).toMatchObject({
    MetricName: "Errors",
    Dimensions: ofFunction,
    Period: 300,
    Threshold: 1,
    EvaluationPeriods: 3,
  });
});

test("every alarm begins at its threshold and says what to do", () => {
  const alarms = propertiesOf(template, "AWS::CloudWatch::Alarm") as unknown as Alarm[];

  expect(alarms).toHaveLength(12);
  for (const { ComparisonOperator, AlarmDescription } of alarms) {
    expect(ComparisonOperator).toBe("GreaterThanOrEqualToThreshold");
    expect(AlarmDescription.length).toBeGreaterThan(100);
    expect(AlarmDescription.length).toBeLessThanOrEqual(1024); // CloudWatch's limit
  }
});

test("the topic that was given hears of every alarm and of its end; without one, nobody does", () => {
  const topicArn = "arn:aws:sns:eu-west-1:111122223333:on-call";
  const wired = templateOf((stack) => ({
    alarmTopic: sns.Topic.fromTopicArn(stack, "Topic", topicArn),
  }));

  const alarms = propertiesOf(wired, "AWS::CloudWatch::Alarm");
  expect(alarms).toHaveLength(12);
  for (const properties of alarms) {
    expect(properties).toMatchObject({ AlarmActions: [topicArn], OKActions: [topicArn] });
  }
  for (const properties of propertiesOf(template, "AWS::CloudWatch::Alarm")) {
    expect(properties).not.toHaveProperty("AlarmActions");
  }
});

test.each([
  ["RETAIN without a topic", RemovalPolicy.RETAIN, false, 1],
  ["RETAIN with a topic", RemovalPolicy.RETAIN, true, 0],
  ["DESTROY without a topic", RemovalPolicy.DESTROY, false, 0],
] as const)("synthesis warns that nobody is notified: %s", (_, removalPolicy, topic, found) => {
  const stack = new Stack(newApp(), "Stack");
  paymentWorker(stack, {
    removalPolicy,
    ...(topic && { alarmTopic: new sns.Topic(stack, "Topic") }),
  });

  const warnings = Annotations.fromStack(stack).findWarning(
    "*",
    Match.stringLikeRegexp("No alarm of this payment worker notifies anyone"),
  );
  expect(warnings).toHaveLength(found);
});

/** An alarm's formula, with the names of the metrics that its variables stand for. */
function expression(name: string): string {
  const queries = alarm(name).Metrics ?? [];
  const formula = queries.find((query) => query.Expression)?.Expression ?? "";
  return queries.reduce(
    (text, { Id, MetricStat }) =>
      MetricStat
        ? text.replaceAll(new RegExp(`\\b${Id}\\b`, "g"), MetricStat.Metric.MetricName)
        : text,
    formula,
  );
}
