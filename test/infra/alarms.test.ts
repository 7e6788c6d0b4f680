import { Duration, RemovalPolicy, Stack } from "aws-cdk-lib";
import { Annotations, Match } from "aws-cdk-lib/assertions";
import * as kms from "aws-cdk-lib/aws-kms";
import * as sns from "aws-cdk-lib/aws-sns";
import { expect, test } from "vitest";

import { TIMINGS } from "../support/timings.ts";
import { alarmOf, formulaOf, newApp, paymentWorker, propertiesOf, templateOf } from "./synth.ts";
import type { Alarm } from "./synth.ts";

const template = templateOf();
const alarm = (name: string): Alarm => alarmOf(template, `^PaymentWorkerAlarms${name}`);
const expression = (name: string): string => formulaOf(alarm(name));

const ofQueue = (logicalId: string, MetricName: string, rest: Partial<Alarm>) => ({
  MetricName,
  Dimensions: [
    {
      Name: "QueueName",
      Value: { "Fn::GetAtt": [expect.stringContaining(logicalId), "QueueName"] },
    },
  ],
  ...rest,
});
const ofFunction = (MetricName: string, rest: Partial<Alarm> = {}) => ({
  MetricName,
  Dimensions: [{ Name: "FunctionName", Value: { Ref: expect.stringContaining("Function") } }],
  Statistic: "Sum",
  Threshold: 1,
  EvaluationPeriods: 1,
  TreatMissingData: "notBreaching",
  ...rest,
});
const MAXIMUM = { Statistic: "Maximum", EvaluationPeriods: 1, TreatMissingData: "ignore" };
const AGE = "ApproximateAgeOfOldestMessage";
const VISIBLE = "ApproximateNumberOfMessagesVisible";

test.each<[alarm: string, of: string, expected: Partial<Alarm>]>([
  ["DeadLetters", "one message", ofQueue("DeadLetters", VISIBLE, { ...MAXIMUM, Threshold: 1 })],
  // 14 days less 4 that it may have spent in the first queue, and half of that: 5 days.
  [
    "DeadLettersExpiring",
    "5 days",
    ofQueue("DeadLetters", AGE, { ...MAXIMUM, Threshold: 432_000 }),
  ],
  [
    "QueueAge", // backoff and visibility timeout together
    "21 minutes, for 5",
    ofQueue("Payments", AGE, { Period: 60, Threshold: 1261, EvaluationPeriods: 5 }),
  ],
  [
    "KeepsFailing",
    "six receives",
    ofFunction("FailedReceive", { Statistic: "Maximum", Period: 900, Threshold: 6 }),
  ],
  ["Conflicts", "one conflict", ofFunction("Conflict")],
  ["ConfigurationErrors", "one error", ofFunction("ConfigurationError")],
  ["LeasesLost", "one lost lease", ofFunction("LeaseLost")],
  ["Throttles", "one throttle", ofFunction("Throttles")],
  [
    "NearTimeout",
    "54 of 60 s",
    ofFunction("Duration", { Statistic: "Maximum", Period: 300, Threshold: 54_000 }),
  ],
  ["Errors", "15 minutes of errors", ofFunction("Errors", { Period: 300, EvaluationPeriods: 3 })],
])("%s fires at %s", (name, _, expected) => {
  expect(alarm(name)).toMatchObject(expected);
});

test.each([
  ["InvalidMessages", "FILL(Invalid, 0) + FILL(Rejected, 0)"],
  ["Takeovers", "IF(Takeover > 10 AND Takeover > 0.01 * NumberOfMessagesReceived, 1, 0)"],
  [
    "NoSuccess",
    "IF(NumberOfMessagesReceived >= 10 AND FILL(Succeeded, 0) + FILL(Processing, 0) == 0, 1, 0)",
  ],
])("%s fires when %s is 1", (name, expected) => {
  expect(expression(name)).toBe(expected);
  expect(alarm(name)).toMatchObject({ Threshold: 1, EvaluationPeriods: 1 });
});

test("TableErrors fires at 15 minutes of writes that the records table throttled or failed", () => {
  expect(expression("TableErrors")).toBe(
    "FILL(WriteThrottleEvents, 0) + FILL(SystemErrors, 0) + FILL(SystemErrors, 0)",
  );
  const { Metrics = [], ...rest } = alarm("TableErrors");
  const table = { Name: "TableName", Value: { Ref: expect.stringContaining("RecordsTable") } };
  expect(Metrics.map(({ MetricStat }) => MetricStat?.Metric)).toMatchObject([
    undefined,
    { Namespace: "AWS/DynamoDB", Dimensions: [table] },
    { Dimensions: [{ Name: "Operation", Value: "PutItem" }, table] },
    { Dimensions: [{ Name: "Operation", Value: "UpdateItem" }, table] },
  ]);
  expect(rest).toMatchObject({ Threshold: 1, EvaluationPeriods: 3 });
});

test("by option, NoTraffic fires when nothing was sent for so long, also when SQS reports nothing", () => {
  const quiet = templateOf(() => ({ noTrafficFor: Duration.hours(2) }));

  const alarms = propertiesOf(quiet, "AWS::CloudWatch::Alarm") as unknown as Alarm[];
  const found = alarms.filter(({ AlarmDescription }) => AlarmDescription.startsWith("No message"));
  expect(found).toMatchObject([
    {
      AlarmDescription: expect.stringContaining("for 2 hours"),
      Threshold: 1,
      EvaluationPeriods: 1,
      TreatMissingData: "breaching",
      Metrics: [
        { Expression: "IF(sent > 0, 0, 1)" },
        {
          Id: "sent",
          MetricStat: {
            Metric: ofQueue("Payments", "NumberOfMessagesSent", {}),
            Period: 7_200,
            Stat: "Sum",
          },
        },
      ],
    },
  ]);
  expect(alarms).toHaveLength(15);
});

test("with fewer receives than six, a message that keeps failing is an alarm before its last", () => {
  const few = templateOf(() => ({
    timings: { ...TIMINGS, maxReceiveCount: 5, outageMs: 60_000 },
  }));

  const alarms = propertiesOf(few, "AWS::CloudWatch::Alarm") as unknown as Alarm[];
  expect(alarms.find(({ MetricName }) => MetricName === "FailedReceive")?.Threshold).toBe(4);
});

test("every alarm begins at its threshold and says what to do", () => {
  const alarms = propertiesOf(template, "AWS::CloudWatch::Alarm") as unknown as Alarm[];

  expect(alarms).toHaveLength(14);
  for (const { ComparisonOperator, AlarmDescription } of alarms) {
    expect(ComparisonOperator).toBe("GreaterThanOrEqualToThreshold");
    expect(AlarmDescription.length).toBeGreaterThan(100);
    expect(AlarmDescription.length).toBeLessThanOrEqual(1024); // CloudWatch's limit
  }
});

test("topic and action follow every alarm and its end; without one, nobody is notified", () => {
  const topicArn = "arn:aws:sns:eu-west-1:111122223333:on-call";
  const alarmActionArn = "arn:aws:ssm:eu-west-1:111122223333:opsitem:1";
  const wired = templateOf((stack) => ({
    alarmTopic: sns.Topic.fromTopicArn(stack, "Topic", topicArn),
    alarmActions: [{ bind: () => ({ alarmActionArn }) }],
  }));

  const alarms = propertiesOf(wired, "AWS::CloudWatch::Alarm");
  expect(alarms).toHaveLength(14);
  for (const properties of alarms) {
    const actions = [topicArn, alarmActionArn];
    expect(properties).toMatchObject({ AlarmActions: actions, OKActions: actions });
  }
  for (const properties of propertiesOf(template, "AWS::CloudWatch::Alarm")) {
    expect(properties).not.toHaveProperty("AlarmActions");
  }
});

test.each([
  ["RETAIN without a topic", RemovalPolicy.RETAIN, undefined, 1],
  ["RETAIN with a topic", RemovalPolicy.RETAIN, "topic", 0],
  ["RETAIN with an action", RemovalPolicy.RETAIN, "action", 0],
  ["DESTROY without a topic", RemovalPolicy.DESTROY, undefined, 0],
] as const)("synthesis warns that nobody is notified: %s", (_, removalPolicy, told, found) => {
  const stack = new Stack(newApp(), "Stack");
  paymentWorker(stack, {
    removalPolicy,
    ...(told === "topic" && { alarmTopic: new sns.Topic(stack, "Topic") }),
    ...(told === "action" && { alarmActions: [{ bind: () => ({ alarmActionArn: "arn" }) }] }),
  });

  const warnings = Annotations.fromStack(stack).findWarning(
    "*",
    Match.stringLikeRegexp("No alarm of this payment worker notifies anyone"),
  );
  expect(warnings).toHaveLength(found);
});

test("by option, the topic is notified when the secret or the key is about to be deleted", () => {
  const watched = templateOf((stack) => ({
    alarmTopic: new sns.Topic(stack, "Topic"),
    encryptionKey: new kms.Key(stack, "Key"),
    watchDeletion: true,
  }));
  const isKey = { Ref: expect.stringMatching(/^Key/) };
  const isSecret = { Ref: expect.stringContaining("StripeKey") };

  const Targets = [{ Arn: { Ref: expect.stringContaining("Topic") } }];
  const call = (source: string, detail: object) => ({
    EventPattern: { source: [source], "detail-type": ["AWS API Call via CloudTrail"], detail },
    Targets,
  });
  const rules = propertiesOf(watched, "AWS::Events::Rule");
  expect(rules).toHaveLength(2);
  expect(rules).toMatchObject([
    call("aws.secretsmanager", {
      eventName: ["DeleteSecret"],
      requestParameters: { secretId: [isSecret, expect.anything()] },
    }),
    call("aws.kms", {
      eventName: ["ScheduleKeyDeletion", "DisableKey"],
      requestParameters: { keyId: [{ suffix: isKey }] },
    }),
  ]);
  expect(propertiesOf(template, "AWS::Events::Rule")).toEqual([]);
});
