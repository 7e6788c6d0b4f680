import { RemovalPolicy, Stack } from "aws-cdk-lib";
import { Template } from "aws-cdk-lib/assertions";
import * as sqs from "aws-cdk-lib/aws-sqs";
import { expect, test } from "vitest";
import { PaymentWorker } from "../../infra/payment-worker.ts";
import { newApp } from "./synth.ts";

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
