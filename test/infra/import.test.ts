import { RemovalPolicy, Stack } from "aws-cdk-lib";
import { Template } from "aws-cdk-lib/assertions";
import { Rule } from "aws-cdk-lib/aws-events";
import { SqsQueue } from "aws-cdk-lib/aws-events-targets";
import * as sns from "aws-cdk-lib/aws-sns";
import { SqsSubscription } from "aws-cdk-lib/aws-sns-subscriptions";
import * as sqs from "aws-cdk-lib/aws-sqs";
import { expect, test } from "vitest";

import { encryptionKey } from "../../infra/encryption-key.ts";
import { PaymentWorker } from "../../infra/payment-worker.ts";
import { newApp, propertiesOf } from "./synth.ts";

test("another app places two workers beside its own resources, in one stack", () => {
  const stack = new Stack(newApp(), "Shop");
  const own = new sqs.Queue(stack, "Orders");

  const cards = new PaymentWorker(stack, "Cards", { removalPolicy: RemovalPolicy.RETAIN });
  const debits = new PaymentWorker(stack, "Debits", { removalPolicy: RemovalPolicy.RETAIN });

  const queues = Object.values(Template.fromStack(stack).findResources("AWS::SQS::Queue"));
  expect(queues).toHaveLength(5);
  const names = queues.map((queue) => queue["Properties"]?.QueueName).filter(Boolean);
  expect(new Set(names).size).toBe(2);
  const urls = [own, cards.queue, debits.queue].map((queue) => stack.resolve(queue.queueUrl).Ref);
  expect(urls).toStrictEqual([
    expect.stringMatching(/^Orders/),
    expect.stringMatching(/^CardsWorkerQueuesPayments/),
    expect.stringMatching(/^DebitsWorkerQueuesPayments/),
  ]);
});

test("a topic and a rule that send to an encrypted queue may use its key", () => {
  const stack = new Stack(newApp(), "Shop");
  const worker = new PaymentWorker(stack, "Payments", {
    removalPolicy: RemovalPolicy.RETAIN,
    encryptionKey: encryptionKey(stack, "Key", RemovalPolicy.RETAIN),
  });
  const topicArn = "arn:aws:sns:eu-west-1:111111111111:orders";

  sns.Topic.fromTopicArn(stack, "Orders", topicArn).addSubscription(
    new SqsSubscription(worker.queue),
  );
  const rule = new Rule(stack, "PaymentRequested", {
    eventPattern: { detailType: ["PaymentRequested"] },
  });
  rule.addTarget(new SqsQueue(worker.queue));

  const [key] = propertiesOf(Template.fromStack(stack), "AWS::KMS::Key");
  const policy = key?.["KeyPolicy"] as { Statement: { Principal: object }[] } | undefined;
  const allowed = (Service: string) =>
    policy?.Statement.find(
      ({ Principal }) => "Service" in Principal && Principal.Service === Service,
    );
  expect(allowed("sns.amazonaws.com")).toMatchObject({
    Action: ["kms:Decrypt", "kms:GenerateDataKey"],
    Condition: { ArnEquals: { "aws:SourceArn": topicArn } },
  });
  expect(allowed("events.amazonaws.com")).toMatchObject({
    Action: expect.arrayContaining(["kms:Decrypt", "kms:GenerateDataKey*"]) as string[],
    Condition: { StringEquals: { "aws:SourceAccount": { Ref: "AWS::AccountId" } } },
  });
});
