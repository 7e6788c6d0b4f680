import { Template } from "aws-cdk-lib/assertions";
import { expect, test } from "vitest";
import { PaymentWorkerStack } from "../../infra/payment-worker-stack.ts";
import { dev, prod, type Stage } from "../../infra/stages.ts";
import { newApp, propertiesOf } from "./synth.ts";

function templateOf(stage: Stage): Template {
  return Template.fromStack(new PaymentWorkerStack(newApp(), "Stack", stage));
}

function variables(template: Template): unknown {
  return propertiesOf(template, "AWS::Lambda::Function")[0]?.["Environment"];
}

test("prod keeps its data, has a key of its own, and cannot be deleted by accident", () => {
  const stack = new PaymentWorkerStack(newApp(), "Stack", prod);
  const template = Template.fromStack(stack);

  expect(stack.terminationProtection).toBe(true);
  expect(propertiesOf(template, "AWS::DynamoDB::Table")).toMatchObject([
    { DeletionProtectionEnabled: true, SSESpecification: { SSEType: "KMS" } },
  ]);
  expect(propertiesOf(template, "AWS::Lambda::Function")).toMatchObject([
    { ReservedConcurrentExecutions: 2 },
  ]);
});

test("dev deploys into a new account and is gone when it is destroyed", () => {
  const stack = new PaymentWorkerStack(newApp(), "Stack", dev);
  const template = Template.fromStack(stack);

  expect(stack.terminationProtection).toBe(false);
  expect(JSON.stringify(template.toJSON())).not.toContain("Retain");
  expect(propertiesOf(template, "AWS::KMS::Key")).toStrictEqual([]);
  expect(propertiesOf(template, "AWS::Lambda::Function")[0]).not.toHaveProperty(
    "ReservedConcurrentExecutions",
  );
});

test("dev declares what points the function at local servers, empty; prod declares none of it", () => {
  expect(variables(templateOf(dev))).toMatchObject({
    Variables: {
      STRIPE_API_KEY: "",
      STRIPE_API_BASE: "",
      AWS_ENDPOINT_URL_DYNAMODB: "",
      AWS_ENDPOINT_URL_SQS: "",
    },
  });
  expect(JSON.stringify(variables(templateOf(prod)))).not.toMatch(/STRIPE_API|AWS_ENDPOINT/);
});

test("a stage names an alarm topic and a secret that exist already", () => {
  const alarmTopicArn = "arn:aws:sns:eu-west-1:111122223333:on-call";
  const stripeSecretArn = "arn:aws:secretsmanager:eu-west-1:111122223333:secret:stripe-AbCdEf";

  const template = templateOf({ ...prod, alarmTopicArn, stripeSecretArn });

  expect(propertiesOf(template, "AWS::CloudWatch::Alarm")[0]).toMatchObject({
    AlarmActions: [alarmTopicArn],
  });
  expect(propertiesOf(template, "AWS::SecretsManager::Secret")).toStrictEqual([]);
  expect(variables(template)).toMatchObject({ Variables: { STRIPE_SECRET_ARN: stripeSecretArn } });
});

test("the outputs are what the commands of this project read", () => {
  expect(Object.keys(templateOf(dev).toJSON()["Outputs"]).toSorted()).toStrictEqual([
    "DlqUrl",
    "FunctionName",
    "LogGroupName",
    "QueueUrl",
    "SecretArn",
    "TableName",
  ]);
});
