import { Duration, RemovalPolicy, Stack } from "aws-cdk-lib";
import { Template } from "aws-cdk-lib/assertions";
import * as kms from "aws-cdk-lib/aws-kms";
import * as secretsmanager from "aws-cdk-lib/aws-secretsmanager";
import { expect, test } from "vitest";

import { allow } from "../../infra/execution-role.ts";
import { lambdaFunction } from "../../infra/lambda-function.ts";
import type { FunctionProps } from "../../infra/lambda-function.ts";
import { newApp, propertiesOf, statementsOf } from "./synth.ts";

const BUS = "arn:aws:events:eu-west-1:111122223333:event-bus/outcomes";

function functionOf(stack: Stack, props: Partial<FunctionProps> = {}): Template {
  lambdaFunction(stack, {
    bundle: "payment-worker",
    title: "publisher",
    description: "Publishes",
    environment: { EVENT_BUS_NAME: "outcomes" },
    statements: [allow("Publish", ["events:PutEvents"], BUS)],
    timeout: Duration.seconds(30),
    removalPolicy: RemovalPolicy.DESTROY,
    ...props,
  });
  return Template.fromStack(stack);
}

test("a function may make the calls it names and write its own log, and no more", () => {
  const template = functionOf(new Stack(newApp(), "Stack"));

  expect(statementsOf(template)).toMatchObject({
    Publish: { Action: "events:PutEvents", Resource: BUS },
    Log: { Resource: { "Fn::GetAtt": [expect.stringMatching(/^Logs/), "Arn"] } },
  });
  expect(Object.keys(statementsOf(template))).toHaveLength(2);
  expect(propertiesOf(template, "AWS::IAM::Role")).toMatchObject([
    { Description: "The publisher", ManagedPolicyArns: [{ Ref: expect.any(String) as string }] },
  ]);
});

test("a function may use the key only through the services it calls", () => {
  const stack = new Stack(newApp(), "Stack");
  const encryptionKey = new kms.Key(stack, "Key");

  const template = functionOf(stack, { encryptionKey });

  expect(statementsOf(template)["UseKey"]).toMatchObject({
    Condition: {
      StringEquals: {
        "kms:ViaService": [
          { "Fn::Join": ["", ["events.", { Ref: "AWS::Region" }, ".amazonaws.com"]] },
        ],
      },
    },
  });
});

test("each secret of a function has its variable and its own permission", () => {
  const stack = new Stack(newApp(), "Stack");
  const arn = "arn:aws:secretsmanager:eu-west-1:111122223333:secret:webhook-AbCdEf";
  const secret = secretsmanager.Secret.fromSecretCompleteArn(stack, "Webhook", arn);

  const template = functionOf(stack, {
    secrets: [{ name: "WebhookSecret", variable: "STRIPE_WEBHOOK_SECRET_ARN", secret }],
  });

  expect(statementsOf(template)["ReadWebhookSecret"]).toMatchObject({ Resource: arn });
  expect(propertiesOf(template, "AWS::Lambda::Function")).toMatchObject([
    { Environment: { Variables: { EVENT_BUS_NAME: "outcomes", STRIPE_WEBHOOK_SECRET_ARN: arn } } },
  ]);
});

test("a function that was not built stops synthesis", () => {
  expect(() => functionOf(new Stack(newApp(), "Stack"), { bundle: "no-such-function" })).toThrow(
    /dist\/no-such-function holds no index\.js: run `npm run build` before synthesis\.$/,
  );
});
