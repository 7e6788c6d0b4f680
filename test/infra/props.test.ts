// What another app may bring along or change, and what it gets to see.
import { Duration, RemovalPolicy, Stack } from "aws-cdk-lib";
import { Annotations, Match, Template } from "aws-cdk-lib/assertions";
import * as dynamodb from "aws-cdk-lib/aws-dynamodb";
import * as ec2 from "aws-cdk-lib/aws-ec2";
import * as iam from "aws-cdk-lib/aws-iam";
import * as kms from "aws-cdk-lib/aws-kms";
import * as logs from "aws-cdk-lib/aws-logs";
import { expect, test } from "vitest";

import { encryptionKey } from "../../infra/encryption-key.ts";
import { lambdaFunction } from "../../infra/lambda-function.ts";
import { QueueConsumer } from "../../infra/queue-consumer.ts";
import { RecordsTable } from "../../infra/records-table.ts";
import { TIMINGS } from "../support/timings.ts";
import { newApp, paymentWorker, propertiesOf, statementsOf, templateOf } from "./synth.ts";

const { DESTROY } = RemovalPolicy;
const { NUMBER, STRING } = dynamodb.AttributeType;
const FUNCTION = {
  bundle: "payment-worker",
  title: "function",
  description: "Works",
  environment: {},
  statements: [],
  removalPolicy: DESTROY,
};

test("a worker on another's table makes none, claims in that one and may use its key", () => {
  const app = newApp();
  const records = new Stack(app, "Records");
  const key = new kms.Key(records, "Key");
  const { table } = new RecordsTable(records, "Table", {
    removalPolicy: DESTROY,
    encryptionKey: key,
  });
  const stack = new Stack(app, "Stack");
  const worker = paymentWorker(stack, { table });

  const template = Template.fromStack(stack);
  const { Claim, UseTableKey } = statementsOf(template);
  template.resourceCountIs("AWS::DynamoDB::Table", 0);
  expect(worker.table).toBe(table);
  expect(Claim?.Resource).toEqual(stack.resolve(table.tableArn));
  expect(UseTableKey).toMatchObject({
    Resource: stack.resolve(key.keyArn),
    Condition: {
      StringEquals: {
        "kms:ViaService": [
          { "Fn::Join": ["", ["dynamodb.", { Ref: "AWS::Region" }, ".amazonaws.com"]] },
        ],
      },
    },
  });
  expect(propertiesOf(template, "AWS::Lambda::Function")[0]).toMatchObject({
    Environment: { Variables: { RECORDS_TABLE: stack.resolve(table.tableName) } },
  });
});

const KEY = { name: "messageId", type: STRING };
const TTL = { timeToLiveAttribute: "expiresAt" };
const { Table, TableV2 } = dynamodb;

test.each<[string, (stack: Stack) => object, string]>([
  [
    "with another key",
    (stack) => new Table(stack, "Table", { ...TTL, partitionKey: { ...KEY, name: "id" } }),
    'string "messageId"',
  ],
  [
    "with a number as its key",
    (stack) => new Table(stack, "Table", { ...TTL, partitionKey: { ...KEY, type: NUMBER } }),
    'string "messageId"',
  ],
  [
    "with a sort key",
    (stack) =>
      new Table(stack, "Table", { ...TTL, partitionKey: KEY, sortKey: { ...KEY, name: "at" } }),
    "no sort key",
  ],
  [
    "that keeps records forever",
    (stack) => new Table(stack, "Table", { partitionKey: KEY }),
    'timeToLiveAttribute to "expiresAt"',
  ],
  [
    "that may get replicas",
    (stack) => new TableV2(stack, "Table", { ...TTL, partitionKey: KEY }),
    "one region only",
  ],
])("a table %s stops synthesis", (_name, table, sentence) => {
  const stack = new Stack(newApp(), "Stack");

  expect(() => paymentWorker(stack, { table: table(stack) as dynamodb.ITable })).toThrow(sentence);
});

test("a table that is imported is taken as it is", () => {
  const template = templateOf((stack) => ({
    table: dynamodb.Table.fromTableName(stack, "Records", "payment-records"),
  }));

  expect(propertiesOf(template, "AWS::Lambda::Function")[0]).toMatchObject({
    Environment: { Variables: { RECORDS_TABLE: "payment-records" } },
  });
});

test("any key of the app's own lets CloudWatch Logs use it, for the log groups of the worker's stack alone", () => {
  const app = newApp();
  const keys = new Stack(app, "Keys");
  const plain = new kms.Key(keys, "Plain");
  const made = encryptionKey(keys, "Made", DESTROY);
  paymentWorker(new Stack(app, "Cards"), { encryptionKey: plain });
  paymentWorker(new Stack(app, "Debits"), { encryptionKey: plain });
  paymentWorker(new Stack(app, "Refunds"), { encryptionKey: made });

  const policies = propertiesOf(Template.fromStack(keys), "AWS::KMS::Key").map(({ KeyPolicy }) =>
    (KeyPolicy as { Statement: { Sid?: string; Condition?: object }[] }).Statement.filter(
      ({ Sid }) => Sid?.startsWith("Logs"),
    ).map(({ Sid, Condition }) => [Sid, /log-group:(\w+-\*)/.exec(JSON.stringify(Condition))?.[1]]),
  );
  expect(policies).toEqual([
    [
      ["LogsOfCards", "Cards-*"],
      ["LogsOfDebits", "Debits-*"],
    ],
    [["LogsOfRefunds", "Refunds-*"]],
  ]);
});

test("a key that is imported cannot be changed, and synthesis says what its policy must allow", () => {
  const stack = new Stack(newApp(), "Stack");
  const keyArn = "arn:aws:kms:eu-west-1:111122223333:key/11111111-2222-3333-4444-555555555555";
  paymentWorker(stack, { encryptionKey: kms.Key.fromKeyArn(stack, "Key", keyArn) });

  expect(
    Annotations.fromStack(stack).findWarning(
      "*",
      Match.stringLikeRegexp("logs.REGION.amazonaws.com use the key for log-group:Stack-\\*"),
    ),
  ).toHaveLength(1);
});

test("a function in a VPC is in its private subnets, with a role that may place it there", () => {
  const template = templateOf((stack) => ({
    network: {
      vpc: new ec2.Vpc(stack, "Vpc", { restrictDefaultSecurityGroup: false }) as ec2.IVpc,
    },
  }));

  expect(propertiesOf(template, "AWS::Lambda::Function")[0]).toMatchObject({
    VpcConfig: {
      SubnetIds: [
        { Ref: expect.stringMatching(/^VpcPrivateSubnet1/) },
        { Ref: expect.stringMatching(/^VpcPrivateSubnet2/) },
      ],
      SecurityGroupIds: [expect.anything()],
    },
  });
  expect(statementsOf(template)["UseVpc"]).toMatchObject({
    Action: [
      "ec2:AssignPrivateIpAddresses",
      "ec2:CreateNetworkInterface",
      "ec2:DeleteNetworkInterface",
      "ec2:DescribeNetworkInterfaces",
      "ec2:DescribeSubnets",
      "ec2:UnassignPrivateIpAddresses",
    ],
    Resource: "*",
  });
});

test("memory and log retention are the app's to choose", () => {
  const template = templateOf(() => ({
    memorySize: 1024,
    logRetention: logs.RetentionDays.FIVE_YEARS,
  }));

  expect(propertiesOf(template, "AWS::Lambda::Function")[0]).toMatchObject({ MemorySize: 1024 });
  expect(propertiesOf(template, "AWS::Logs::LogGroup")[0]).toMatchObject({ RetentionInDays: 1827 });
});

test("grantSend lets a producer send, and use the queue's key", () => {
  const stack = new Stack(newApp(), "Stack");
  const key = encryptionKey(stack, "Key", DESTROY);
  const worker = paymentWorker(stack, { encryptionKey: key });
  worker.grantSend(new iam.User(stack, "Checkout"));

  const [policy] = propertiesOf(Template.fromStack(stack), "AWS::IAM::Policy");
  expect(policy).toMatchObject({
    PolicyDocument: {
      Statement: [
        {
          Action: expect.arrayContaining(["sqs:SendMessage"]),
          Resource: stack.resolve(worker.queue.queueArn),
        },
        {
          Action: ["kms:Decrypt", "kms:Encrypt", "kms:GenerateDataKey*", "kms:ReEncrypt*"],
          Resource: stack.resolve(key.keyArn),
        },
      ],
    },
  });
});

test("role, event source and dashboard are within reach", () => {
  const stack = new Stack(newApp(), "Stack");
  const { role, eventSource, dashboard, function: handler } = paymentWorker(stack);

  expect(role).toBe(handler.role);
  expect(stack.resolve(eventSource.eventSourceMappingId)).toMatchObject({
    Ref: expect.stringMatching(/^PaymentWorkerFunctionEventSource/),
  });
  expect(stack.resolve(dashboard.dashboardName)).toMatchObject({
    Ref: expect.stringMatching(/^PaymentWorkerDashboard/),
  });
});

// The rules themselves: test/lib/timing/rules.test.ts
test("timings that break a rule stop synthesis of a worker, and of any queue consumer, and say so", () => {
  const stack = new Stack(newApp(), "Stack");
  const broken = { visibilityTimeoutMs: 359_000 };
  const consumer = { ...FUNCTION, messages: "Events", reserveConcurrency: false };

  expect(() => paymentWorker(stack, { timings: broken })).toThrow(
    /^Stack\/PaymentWorker breaks 1 rule.*\n- visibility-aws: .*359 s.*360 s.*change visibilityTimeoutMs/,
  );
  expect(
    () => new QueueConsumer(stack, "Events", { ...consumer, timings: { ...TIMINGS, ...broken } }),
  ).toThrow(/^Stack\/Events breaks 1 rule.*\n- visibility-aws: /);
});

test("a function that was not built stops synthesis", () => {
  const missing = { ...FUNCTION, bundle: "no-such-function", timeout: Duration.seconds(30) };

  expect(() => lambdaFunction(new Stack(newApp(), "Stack"), missing)).toThrow(
    /dist\/no-such-function holds no index\.js: run `npm run build` before synthesis\.$/,
  );
});
