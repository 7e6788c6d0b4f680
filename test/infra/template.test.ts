import * as kms from "aws-cdk-lib/aws-kms";
import * as secretsmanager from "aws-cdk-lib/aws-secretsmanager";
import { expect, test } from "vitest";

import { propertiesOf, statementsOf, templateOf } from "./synth.ts";

const template = templateOf();

const ref = (logicalId: string) => ({ Ref: expect.stringContaining(logicalId) });
const arn = (logicalId: string) => ({
  "Fn::GetAtt": [expect.stringContaining(logicalId), "Arn"],
});

test("the table is keyed by the message id, billed by request, expires items and can be restored", () => {
  expect(propertiesOf(template, "AWS::DynamoDB::Table")).toMatchObject([
    {
      KeySchema: [{ AttributeName: "messageId", KeyType: "HASH" }],
      AttributeDefinitions: [{ AttributeName: "messageId", AttributeType: "S" }],
      BillingMode: "PAY_PER_REQUEST",
      TimeToLiveSpecification: { AttributeName: "expiresAt", Enabled: true },
      PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true },
    },
  ]);
});

test("the function runs on Node 24 and arm64, logs JSON, and reads its settings from the stack", () => {
  expect(propertiesOf(template, "AWS::Lambda::Function")).toMatchObject([
    {
      Runtime: "nodejs24.x",
      Architectures: ["arm64"],
      Handler: "init.handler",
      Timeout: 60,
      MemorySize: 256,
      ReservedConcurrentExecutions: 2,
      LoggingConfig: { LogFormat: "JSON", LogGroup: ref("Logs"), SystemLogLevel: "WARN" },
      Environment: {
        Variables: {
          RECORDS_TABLE: ref("RecordsTable"),
          QUEUE_URL: ref("Payments"),
          STRIPE_SECRET_ARN: ref("StripeKey"),
          BATCH_SIZE: "5",
          STRIPE_TIMEOUT_SECONDS: "20",
          RECORD_TTL_SECONDS: "3024000",
        },
      },
    },
  ]);
  expect(propertiesOf(template, "AWS::Logs::LogGroup")).toMatchObject([{ RetentionInDays: 180 }]);
});

test("the event source takes partial answers and no more at once than Stripe's rate allows", () => {
  expect(propertiesOf(template, "AWS::Lambda::EventSourceMapping")).toMatchObject([
    {
      FunctionResponseTypes: ["ReportBatchItemFailures"],
      BatchSize: 5,
      ScalingConfig: { MaximumConcurrency: 2 },
      EventSourceArn: arn("Payments"),
    },
  ]);
});

test("a message that keeps failing moves to a dead-letter queue that accepts no other source", () => {
  const [deadLetters, payments] = propertiesOf(template, "AWS::SQS::Queue");

  expect(payments).toMatchObject({
    VisibilityTimeout: 360,
    MessageRetentionPeriod: 345_600,
    RedrivePolicy: { maxReceiveCount: 14, deadLetterTargetArn: arn("DeadLetters") },
  });
  expect(deadLetters).toMatchObject({
    MessageRetentionPeriod: 1_209_600,
    RedriveAllowPolicy: {
      redrivePermission: "byQueue",
      sourceQueueArns: [
        { "Fn::Join": ["", expect.arrayContaining([`:${String(payments?.["QueueName"])}`])] },
      ],
    },
  });
});

test("both queues reject requests without TLS", () => {
  const denyPlainHttp = {
    PolicyDocument: {
      Statement: [
        {
          Effect: "Deny",
          Principal: { AWS: "*" },
          Action: "sqs:*",
          Condition: { Bool: { "aws:SecureTransport": "false" } },
        },
      ],
    },
  };

  expect(propertiesOf(template, "AWS::SQS::QueuePolicy")).toMatchObject([
    { ...denyPlainHttp, Queues: [ref("DeadLetters")] },
    { ...denyPlainHttp, Queues: [ref("Payments")] },
  ]);
});

test("the function may make exactly the calls that it makes, on exactly its own resources", () => {
  const allowed = (Action: string | string[], Resource: object) =>
    expect.objectContaining({ Effect: "Allow", Action, Resource });

  expect(statementsOf(template)).toEqual({
    Claim: allowed(["dynamodb:PutItem", "dynamodb:UpdateItem"], arn("Table")),
    Consume: allowed(
      [
        "sqs:ChangeMessageVisibility",
        "sqs:DeleteMessage",
        "sqs:GetQueueAttributes",
        "sqs:ReceiveMessage",
      ],
      arn("Payments"),
    ),
    ReadStripeKey: allowed("secretsmanager:GetSecretValue", ref("StripeKey")),
    Log: allowed(["logs:CreateLogStream", "logs:PutLogEvents"], arn("Logs")),
  });
  expect(propertiesOf(template, "AWS::IAM::Role")).toMatchObject([
    { ManagedPolicyArns: [ref("Policy")] },
  ]);
});

test("the template holds no Stripe key and asks for no generated one", () => {
  expect(propertiesOf(template, "AWS::SecretsManager::Secret")).toStrictEqual([
    { Description: "The Stripe API key of the payment worker, as a plain string" },
  ]);
});

test("an existing secret is used, with its own key, and none is created", () => {
  const secretCompleteArn = "arn:aws:secretsmanager:eu-west-1:111122223333:secret:stripe-AbCdEf";
  const keyArn = "arn:aws:kms:eu-west-1:111122223333:key/k1";

  const imported = templateOf((stack) => ({
    stripeSecret: secretsmanager.Secret.fromSecretAttributes(stack, "Existing", {
      secretCompleteArn,
      encryptionKey: kms.Key.fromKeyArn(stack, "Key", keyArn),
    }),
  }));

  expect(propertiesOf(imported, "AWS::SecretsManager::Secret")).toStrictEqual([]);
  expect(propertiesOf(imported, "AWS::Lambda::Function")).toMatchObject([
    { Environment: { Variables: { STRIPE_SECRET_ARN: secretCompleteArn } } },
  ]);
  expect(statementsOf(imported)).toMatchObject({
    ReadStripeKey: { Resource: secretCompleteArn },
    DecryptStripeKey: { Action: "kms:Decrypt", Resource: keyArn },
  });
});
