import { RemovalPolicy } from "aws-cdk-lib";
import { Template } from "aws-cdk-lib/assertions";
import { expect, test } from "vitest";

import { PaymentServiceStack } from "../../infra/payment-service-stack.ts";
import { dev, prod } from "../../infra/stages.ts";
import type { Stage } from "../../infra/stages.ts";
import { DEFAULT_TIMINGS } from "../../lib/timing/payments.ts";
import { DEV, newApp, PROD, propertiesOf } from "./synth.ts";

function templateOf(stage: Stage): Template {
  return Template.fromStack(new PaymentServiceStack(newApp(), "Stack", stage));
}

function variables(template: Template): unknown {
  return propertiesOf(template, "AWS::Lambda::Function")[0]?.["Environment"];
}

test.each([dev, prod])("$name is deployed with the timings of lib/timing/", (stage) => {
  const template = templateOf(stage);

  expect(propertiesOf(template, "AWS::Lambda::Function")).toMatchObject([
    {
      Timeout: DEFAULT_TIMINGS.functionTimeoutMs / 1_000,
      Environment: { Variables: { BATCH_SIZE: String(DEFAULT_TIMINGS.batchSize) } },
    },
  ]);
  expect(propertiesOf(template, "AWS::SQS::Queue")).toMatchObject([
    { MessageRetentionPeriod: DEFAULT_TIMINGS.deadLetterRetentionMs / 1_000 },
    {
      MessageRetentionPeriod: DEFAULT_TIMINGS.queueRetentionMs / 1_000,
      VisibilityTimeout: DEFAULT_TIMINGS.visibilityTimeoutMs / 1_000,
      RedrivePolicy: { maxReceiveCount: DEFAULT_TIMINGS.maxReceiveCount },
    },
  ]);
});

test.each([
  [dev, "test"],
  [prod, "live"],
])("$name takes a key of one mode only", (stage, mode) => {
  expect(variables(templateOf(stage))).toMatchObject({ Variables: { STRIPE_MODE: mode } });
});

test("prod keeps its data, whatever else is set for it", () => {
  expect(prod.removalPolicy).toBe(RemovalPolicy.RETAIN);
});

test("a stage that keeps its data has a key of its own, and cannot be deleted by accident", () => {
  const stack = new PaymentServiceStack(newApp(), "Stack", PROD);
  const template = Template.fromStack(stack);

  expect(stack.terminationProtection).toBe(true);
  expect(propertiesOf(template, "AWS::DynamoDB::Table")).toMatchObject([
    { DeletionProtectionEnabled: true, SSESpecification: { SSEType: "KMS" } },
  ]);
  expect(propertiesOf(template, "AWS::Lambda::Function")).toMatchObject([
    { ReservedConcurrentExecutions: DEFAULT_TIMINGS.reservedConcurrency },
  ]);
});

test("dev deploys into a new account and is gone when it is destroyed", () => {
  const stack = new PaymentServiceStack(newApp(), "Stack", DEV);
  const template = Template.fromStack(stack);

  expect(stack.terminationProtection).toBe(false);
  expect(JSON.stringify(template.toJSON())).not.toContain("Retain");
  expect(propertiesOf(template, "AWS::KMS::Key")).toStrictEqual([]);
  expect(propertiesOf(template, "AWS::DynamoDB::Table")).toMatchObject([
    { DeletionProtectionEnabled: false },
  ]);
  expect(propertiesOf(template, "AWS::Lambda::Function")[0]).not.toHaveProperty(
    "ReservedConcurrentExecutions",
  );
});

test.each([DEV, PROD])("$name deploys no variable for local servers, nor a Stripe key", (stage) => {
  expect(JSON.stringify(variables(templateOf(stage)))).not.toMatch(/STRIPE_API|AWS_ENDPOINT/);
});

test("a stage names its account, an alarm topic and a secret that exist already", () => {
  const env = { account: "111122223333", region: "eu-west-1" };
  const alarmTopicArn = "arn:aws:sns:eu-west-1:111122223333:on-call";
  const stripeSecretArn = "arn:aws:secretsmanager:eu-west-1:111122223333:secret:stripe-AbCdEf";

  const stack = new PaymentServiceStack(newApp(), "Stack", {
    ...PROD,
    env,
    alarmTopicArn,
    stripeSecretArn,
  });
  const template = Template.fromStack(stack);

  expect(stack).toMatchObject(env);
  expect(propertiesOf(template, "AWS::CloudWatch::Alarm")[0]).toMatchObject({
    AlarmActions: [alarmTopicArn],
  });
  expect(propertiesOf(template, "AWS::SecretsManager::Secret")).toStrictEqual([]);
  expect(variables(template)).toMatchObject({ Variables: { STRIPE_SECRET_ARN: stripeSecretArn } });
});

test("the outputs are what the commands of this project read", () => {
  expect(Object.keys(templateOf(DEV).toJSON()["Outputs"]).toSorted()).toStrictEqual([
    "DlqUrl",
    "FunctionName",
    "LogGroupName",
    "QueueUrl",
    "SecretArn",
    "TableName",
  ]);
});
