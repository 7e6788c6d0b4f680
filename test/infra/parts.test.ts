import { readFileSync } from "node:fs";

import { Stack } from "aws-cdk-lib";
import { Match, Template } from "aws-cdk-lib/assertions";
import { Key } from "aws-cdk-lib/aws-kms";
import { Bucket } from "aws-cdk-lib/aws-s3";
import { expect, test } from "vitest";

import { OutcomeEvents } from "../../infra/outcome-events.ts";
import { PaymentApi } from "../../infra/payment-api.ts";
import { PaymentServiceStack } from "../../infra/payment-service-stack.ts";
import { Reconciliation } from "../../infra/reconciliation.ts";
import type { Stage } from "../../infra/stages.ts";
import { StripeEvents } from "../../infra/stripe-events.ts";
import type { StripeEventsProps } from "../../infra/stripe-events.ts";
import { alarmOf, DEV, formulaOf, newApp, paymentWorker, PROD, propertiesOf } from "./synth.ts";

type Resource = { Type: string; Properties: Record<string, unknown>; DeletionPolicy?: string };
type Statement = { Sid: string; Action: string | string[]; Resource: unknown };

const PARTS = {
  outcomeEvents: true,
  stripeEvents: true,
  orderFulfillment: true,
  paymentApi: true,
  reconciliation: true,
} as const;

const resourcesOf = (stage: Stage): Record<string, Resource> =>
  Template.fromStack(new PaymentServiceStack(newApp(), "Stack", stage)).toJSON()["Resources"];

const alone = resourcesOf(DEV);
const together = resourcesOf({ ...DEV, ...PARTS });
const TOGETHER = Template.fromJSON({ Resources: together });

const ofType = (type: string) => propertiesOf(TOGETHER, type);
const table = (resources: Record<string, Resource>) =>
  resources["PaymentWorkerRecordsTableA6710E22"]?.Properties;

/** The statements of the role of the function with this bundle's title, but for its log. */
function permissions(title: string): Record<string, [string | string[], unknown]> {
  const policy = ofType("AWS::IAM::ManagedPolicy").find(
    ({ Description }) => Description === `The calls that the ${title} makes`,
  );
  const document = policy?.["PolicyDocument"] as { Statement: Statement[] } | undefined;
  return Object.fromEntries(
    (document?.Statement ?? [])
      .filter(({ Sid }) => Sid !== "Log")
      .map(({ Sid, Action, Resource }) => [Sid, [Action, Resource]]),
  );
}

const arn = (logicalId: string, attribute = "Arn") => ({
  "Fn::GetAtt": [expect.stringContaining(logicalId), attribute],
});
const CONSUME = [
  [
    "sqs:ChangeMessageVisibility",
    "sqs:DeleteMessage",
    "sqs:GetQueueAttributes",
    "sqs:ReceiveMessage",
  ],
  expect.anything(),
];

test("without its parts, the worker has none of their resources", () => {
  expect(Object.keys(alone).filter((id) => !id.startsWith("PaymentWorker"))).toStrictEqual([]);
  expect(table(alone)).not.toHaveProperty("StreamSpecification");
});

test("the parts change nothing of the worker but its dashboard, and of its table the stream alone", () => {
  const changed = Object.keys(alone).filter(
    (id) => JSON.stringify(alone[id]) !== JSON.stringify(together[id]),
  );

  expect(changed).toHaveLength(2);
  expect(new Set(changed.map((id) => alone[id]?.Type))).toStrictEqual(
    new Set(["AWS::CloudWatch::Dashboard", "AWS::DynamoDB::Table"]),
  );
  // "Update requires: No interruption", says CloudFormation's reference of StreamSpecification.
  expect(table(together)).toStrictEqual({
    ...table(alone),
    StreamSpecification: { StreamViewType: "NEW_AND_OLD_IMAGES" },
  });
});

test("the publisher reads the stream from its start, splits what fails, and keeps what it gives up", () => {
  const mappings = ofType("AWS::Lambda::EventSourceMapping");

  expect(mappings.filter(({ StartingPosition }) => StartingPosition)).toStrictEqual([
    {
      BatchSize: 10,
      BisectBatchOnFunctionError: true,
      DestinationConfig: { OnFailure: { Destination: arn("Failures") } },
      EventSourceArn: arn("RecordsTable", "StreamArn"),
      FilterCriteria: {
        Filters: [
          {
            Pattern:
              '{"eventName":["INSERT","MODIFY"],"dynamodb":{"NewImage":{"status":{"S":["COMPLETED"]}}}}',
          },
        ],
      },
      FunctionName: { Ref: expect.stringContaining("OutcomeEvents") },
      FunctionResponseTypes: ["ReportBatchItemFailures"],
      MaximumRecordAgeInSeconds: 43_200,
      MaximumRetryAttempts: 20,
      MetricsConfig: { Metrics: ["EventCount"] },
      StartingPosition: "TRIM_HORIZON",
    },
  ]);
});

test.each([
  [
    "outcome publisher",
    {
      ReadStream: [
        [
          "dynamodb:DescribeStream",
          "dynamodb:GetRecords",
          "dynamodb:GetShardIterator",
          "dynamodb:ListStreams",
        ],
        arn("RecordsTable", "StreamArn"),
      ],
      Publish: ["events:PutEvents", arn("Bus")],
      KeepFailures: ["s3:PutObject", { "Fn::Join": ["", [arn("Failures"), "/*"]] }],
      FindFailures: ["s3:ListBucket", arn("Failures")],
    },
  ],
  [
    "Stripe webhook",
    {
      Enqueue: ["sqs:SendMessage", arn("StripeEvents")],
      ReadWebhookSecret: [
        "secretsmanager:GetSecretValue",
        { Ref: expect.stringContaining("WebhookSecret") },
      ],
    },
  ],
  [
    "payment finalizer",
    {
      MoveForward: ["dynamodb:UpdateItem", arn("RecordsTable")],
      Report: ["events:PutEvents", arn("Bus")],
      ReadStripeKey: [
        "secretsmanager:GetSecretValue",
        { Ref: expect.stringContaining("StripeKey") },
      ],
      Consume: CONSUME,
    },
  ],
  [
    "order fulfillment",
    {
      Fulfill: [
        ["dynamodb:GetItem", "dynamodb:PutItem", "dynamodb:UpdateItem"],
        arn("OrderFulfillmentOrders"),
      ],
      Consume: CONSUME,
    },
  ],
  [
    "payment API",
    {
      Accept: [["dynamodb:GetItem", "dynamodb:PutItem"], arn("RecordsTable")],
      Send: ["sqs:SendMessage", arn("Payments")],
    },
  ],
])("the %s may make exactly the calls that it makes", (title, expected) => {
  expect(permissions(title)).toStrictEqual(expected);
});

test("every rule's target is a queue that lets the rule send, with a dead-letter queue that does too", () => {
  const stack = new Stack(newApp(), "Stack");
  const worker = paymentWorker(stack, { tableStream: true });
  const outcomes = new OutcomeEvents(stack, "Outcomes", { worker, stage: "dev" });
  outcomes.addQueue("All");
  outcomes.addQueue("Some", { results: ["succeeded", "refunded"] });
  outcomes.addQueue("Own", { pattern: { detail: { data: { currency: ["eur"] } } } });
  const template = Template.fromStack(stack);
  const rules = propertiesOf(template, "AWS::Events::Rule") as {
    EventPattern: unknown;
    Targets: { Arn: object; DeadLetterConfig: { Arn: object } }[];
  }[];
  const policies = JSON.stringify(propertiesOf(template, "AWS::SQS::QueuePolicy"));
  const ids = Object.keys(template.findResources("AWS::Events::Rule"));

  expect(rules.map(({ EventPattern }) => EventPattern)).toStrictEqual([
    { source: ["payment-worker"], detail: { revision: [{ exists: true }] } },
    { source: ["payment-worker"], "detail-type": ["payment.succeeded", "payment.refunded"] },
    { detail: { data: { currency: ["eur"] } } },
  ]);
  for (const [index, { Targets }] of rules.entries()) {
    expect(Targets).toHaveLength(1);
    for (const { Arn, DeadLetterConfig } of Targets) {
      for (const queue of [Arn, DeadLetterConfig.Arn]) {
        const ends = `"Effect":"Allow","Principal":{"Service":"events.amazonaws.com"},"Resource":${JSON.stringify(queue)}`;
        const condition = `{"aws:SourceArn":{"Fn::GetAtt":["${ids[index]}","Arn"]}}`;
        expect(policies).toContain(`${condition}},${ends}`);
      }
    }
  }
  expect(outcomes.alarms.map(({ node }) => node.id)).toStrictEqual([
    "OutcomesNotPublished",
    "OutcomesLate",
    "PublisherErrors",
    ...["All", "Some", "Own"].flatMap(() => ["EventsNotDelivered", "EventDeadLetters"]),
  ]);
});

test("a worker without a stream has no outcome events, and reports how to get one", () => {
  const stack = new Stack(newApp(), "Stack");
  const worker = paymentWorker(stack);

  expect(() => new OutcomeEvents(stack, "Outcomes", { worker, stage: "dev" })).toThrow(
    /^Stack\/PaymentWorker has no stream .* `tableStream: true`/,
  );
});

test("orders without outcome events stop synthesis", () => {
  expect(() => resourcesOf({ ...DEV, orderFulfillment: true })).toThrow(
    "Stage dev fulfills orders and has no outcomeEvents to do so.",
  );
});

function stripeEvents(props: Omit<StripeEventsProps, "worker"> = {}): Template {
  const stack = new Stack(newApp(), "Stack");
  const worker = paymentWorker(stack, { stripeMode: "test" });
  void new StripeEvents(stack, "StripeEvents", { worker, ...props });
  return Template.fromStack(stack);
}

test("the webhook is public, has concurrency of its own, and verifies with a secret that starts empty", () => {
  const template = stripeEvents();

  expect(propertiesOf(template, "AWS::Lambda::Url")).toMatchObject([{ AuthType: "NONE" }]);
  template.hasResourceProperties("AWS::Lambda::Function", {
    Description: "Verifies Stripe's events and sends them to their queue",
    ReservedConcurrentExecutions: 10,
    Environment: {
      Variables: {
        STRIPE_MODE: "test",
        STRIPE_EVENTS_QUEUE_URL: Match.anyValue(),
        STRIPE_WEBHOOK_SECRET_ARN: { Ref: Match.stringLikeRegexp("WebhookSecret") },
      },
    },
  });
});

test("Stripe's EventBridge destination comes into the same queue", () => {
  const source = "aws.partner/stripe.com/ed_test_1";
  const template = stripeEvents({ partnerEventSource: source });
  const [rule] = propertiesOf(template, "AWS::Events::Rule");

  expect(propertiesOf(template, "AWS::Events::EventBus")).toStrictEqual([
    { EventSourceName: source, Name: source },
  ]);
  expect(rule).toMatchObject({
    EventBusName: { Ref: expect.stringContaining("PartnerBus") },
    EventPattern: { source: [source] },
    Targets: [
      { Arn: arn("FinalizerQueuesStripeEvents"), DeadLetterConfig: { Arn: arn("Undelivered") } },
    ],
  });
});

test("the API asks IAM, or for a token where an issuer is named, and throttles every route", () => {
  const stack = new Stack(newApp(), "Stack");
  const worker = paymentWorker(stack);
  void new PaymentApi(stack, "Api", {
    worker,
    jwt: { issuer: "https://issuer.example", audience: ["payments"] },
    throttle: { rateLimit: 5, burstLimit: 7 },
  });
  const withTokens = Template.fromStack(stack);
  const routes = (type: string) =>
    ["POST /payments", "GET /payments/{id}"].map((RouteKey) => ({
      RouteKey,
      AuthorizationType: type,
    }));

  expect(ofType("AWS::ApiGatewayV2::Route")).toMatchObject(routes("AWS_IAM"));
  expect(propertiesOf(withTokens, "AWS::ApiGatewayV2::Route")).toMatchObject(routes("JWT"));
  expect(propertiesOf(withTokens, "AWS::ApiGatewayV2::Authorizer")).toMatchObject([
    { JwtConfiguration: { Audience: ["payments"], Issuer: "https://issuer.example" } },
  ]);
  expect(propertiesOf(withTokens, "AWS::ApiGatewayV2::Stage")).toMatchObject([
    {
      DefaultRouteSettings: { ThrottlingRateLimit: 5, ThrottlingBurstLimit: 7 },
      AccessLogSettings: { DestinationArn: arn("AccessLog") },
    },
  ]);
});

test("the API has the routes of docs/openapi.json, and no other", () => {
  const page = new URL("../../docs/openapi.json", import.meta.url);
  const { paths } = JSON.parse(readFileSync(page, "utf8")) as {
    paths: Record<string, Record<string, unknown>>;
  };
  const documented = Object.entries(paths).flatMap(([path, operations]) =>
    Object.keys(operations).map((method) => `${method.toUpperCase()} ${path}`),
  );
  const routes = ofType("AWS::ApiGatewayV2::Route").map(({ RouteKey }) => RouteKey);

  expect(new Set(routes)).toEqual(new Set(documented));
});

test("with a customer-managed key, the parts encrypt with it what they keep, and outlive the stack", () => {
  const resources = Object.values(resourcesOf({ ...PROD, ...PARTS }));
  const kept = resources.filter(({ Type }) =>
    /Table$|::Queue$|Bucket$|Secret$|LogGroup$/.test(Type),
  );

  expect(kept).toHaveLength(2 + 7 + 2 + 2 + 8);
  for (const { Type, Properties, DeletionPolicy } of kept) {
    expect([Type, JSON.stringify(Properties)]).toStrictEqual([
      Type,
      expect.stringContaining('{"Fn::GetAtt":["Key961B73FD","Arn"]}'),
    ]);
    expect([Type, DeletionPolicy]).toStrictEqual([Type, "Retain"]);
  }
});

test.each([
  ["OutcomesLate", { MetricName: "IteratorAge", Statistic: "Maximum", Threshold: 300_000 }],
  ["EventsNotDelivered", { MetricName: "ApproximateNumberOfMessagesVisible", Threshold: 1 }],
  ["DoubleCharges", { MetricName: "DoubleCharge", Period: 60, Threshold: 1 }],
  ["StripeEventDeadLetters", { MetricName: "ApproximateNumberOfMessagesVisible", Threshold: 1 }],
  ["StripeEventsLate", { MetricName: "ApproximateAgeOfOldestMessage", Threshold: 1_261 }],
  ["UnmatchedPayments", { MetricName: "Unmatched", Threshold: 1 }],
  ["WebhookInvalid", { MetricName: "WebhookInvalid", Threshold: 20 }],
  ["OrderDeadLetters", { MetricName: "ApproximateNumberOfMessagesVisible", Threshold: 1 }],
  ["OrdersLate", { MetricName: "ApproximateAgeOfOldestMessage", Threshold: 1_261 }],
  ["ReconciliationOverdue", { EvaluationPeriods: 3, Threshold: 1, TreatMissingData: "breaching" }],
  ["ApiUnavailable", { MetricName: "5xx", Threshold: 1, EvaluationPeriods: 3 }],
])("%s fires on %o", (name, expected) => {
  expect(alarmOf(TOGETHER, name)).toMatchObject(expected);
});

const failures = (...names: string[]) => names.map((name) => `FILL(${name}, 0)`).join(" + ");
const GIVEN_UP = ["OnFailureDestinationDeliveredEventCount", "DroppedEventCount"];

test.each([
  ["OutcomesNotPublished", failures(...GIVEN_UP), 1],
  ["PublisherErrors", failures("PublishFailed", "Errors"), 3],
  ["WebhookFailures", failures("WebhookFailed", "Errors", "Throttles"), 1],
])("%s fires on any of %s, in %i periods", (name, formula, EvaluationPeriods) => {
  const found = alarmOf(TOGETHER, name);

  expect(formulaOf(found)).toBe(formula);
  expect(found).toMatchObject({ Threshold: 1, EvaluationPeriods });
});

const REPORTS = arn("ReconciliationReports");

test("the reconciliation reads both sides, moves outcomes forward, reports, and may do no more", () => {
  const within = (key: string) => ({ "Fn::Join": ["", [REPORTS, `/${key}`]] });
  expect(permissions("reconciliation")).toStrictEqual({
    Compare: [
      ["dynamodb:GetItem", "dynamodb:Scan", "dynamodb:UpdateItem"],
      arn("PaymentWorkerRecordsTable"),
    ],
    KeepCheckpoint: [["s3:GetObject", "s3:PutObject"], within("checkpoint.json")],
    FindCheckpoint: ["s3:ListBucket", REPORTS],
    Report: ["s3:PutObject", within("reports/*")],
    ReadStripeKey: ["secretsmanager:GetSecretValue", { Ref: expect.stringContaining("StripeKey") }],
  });
  expect(ofType("AWS::Scheduler::Schedule")).toMatchObject([
    {
      ScheduleExpression: "rate(15 minutes)",
      Target: { RetryPolicy: { MaximumRetryAttempts: 2, MaximumEventAgeInSeconds: 900 } },
    },
  ]);
});

test("reports are encrypted, over TLS alone, never public, and gone after half a year", () => {
  const bucket = Object.entries(together).find(([id]) =>
    id.startsWith("ReconciliationReports"),
  )?.[1];
  expect(bucket).toMatchObject({
    Properties: {
      BucketEncryption: {
        ServerSideEncryptionConfiguration: [
          { ServerSideEncryptionByDefault: { SSEAlgorithm: "AES256" } },
        ],
      },
      PublicAccessBlockConfiguration: {
        BlockPublicAcls: true,
        BlockPublicPolicy: true,
        IgnorePublicAcls: true,
        RestrictPublicBuckets: true,
      },
      LifecycleConfiguration: { Rules: [{ ExpirationInDays: 180, Status: "Enabled" }] },
    },
  });
  expect(JSON.stringify(ofType("AWS::S3::BucketPolicy"))).toContain("aws:SecureTransport");
});

test("reports can go to a bucket that is there, under its own key", () => {
  const stack = new Stack(newApp(), "Stack");
  const key = new Key(stack, "Key");
  const reportBucket = new Bucket(stack, "Mine", { encryptionKey: key });
  void new Reconciliation(stack, "Reconciliation", { worker: paymentWorker(stack), reportBucket });
  const template = Template.fromStack(stack);
  template.resourceCountIs("AWS::S3::Bucket", 1);
  const policies = JSON.stringify(template.findResources("AWS::IAM::ManagedPolicy"));
  expect(policies).toContain('"UseReportKey"');
  expect(policies).toMatch(/"kms:ViaService":.{0,40}"s3\./);
});
