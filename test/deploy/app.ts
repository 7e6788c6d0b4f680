// The dev stage as it is deployed, but for what an emulator on this machine needs, and beside it a
// second worker with a queue of its own on the same table.
import { App, CfnOutput, Fn, RemovalPolicy } from "aws-cdk-lib";
import { CfnAlarm } from "aws-cdk-lib/aws-cloudwatch";
import { ManagedPolicy, PolicyStatement } from "aws-cdk-lib/aws-iam";
import type { Key } from "aws-cdk-lib/aws-kms";
import { CfnSecret } from "aws-cdk-lib/aws-secretsmanager";

import { PaymentServiceStack } from "../../infra/payment-service-stack.ts";
import { PaymentWorker } from "../../infra/payment-worker.ts";
import { dev } from "../../infra/stages.ts";

const stack = new PaymentServiceStack(new App(), "PaymentWorker-dev", {
  ...dev,
  customerManagedKey: true,
  reserveConcurrency: true,
});
const worker = stack.node.findChild("PaymentWorker") as PaymentWorker;

const second = new PaymentWorker(stack, "Second", {
  removalPolicy: RemovalPolicy.DESTROY,
  reserveConcurrency: false,
  table: worker.table,
  stripeSecret: worker.stripeSecret,
  encryptionKey: stack.node.findChild("Key") as Key,
});
const output = (id: string, value: string) => new CfnOutput(stack, id, { value });
output("SecondQueueUrl", second.queue.queueUrl);

// The functions' Stripe is a server of the suite's; REVISION is what a redeployment changes.
worker.function.addEnvironment("REVISION", process.env["REVISION"] ?? "");

// AWS covers the batch call by the permission for the single one, and a secret's Ref is its ARN; the
// emulator wants the batch call named, and takes Ref for the name. Everything else it decides by the
// policy as it is.
const secret = worker.node.findAll().find((node) => node instanceof CfnSecret);
for (const { node, queue, function: handler } of [worker, second]) {
  handler.addEnvironment("STRIPE_API_BASE", process.env["STRIPE_API_BASE"] ?? "");
  const policy = node.findAll().find((found) => found instanceof ManagedPolicy);
  policy?.addStatements(
    new PolicyStatement({
      actions: ["sqs:ChangeMessageVisibilityBatch"],
      resources: [queue.queueArn],
    }),
    new PolicyStatement({
      actions: ["secretsmanager:GetSecretValue"],
      resources: [Fn.getAtt(stack.getLogicalId(secret as CfnSecret), "Id").toString()],
    }),
  );
}

// The emulator rejects alarms on formulas: a plain metric replaces each.
for (const alarm of stack.node.findAll().filter((node) => node instanceof CfnAlarm)) {
  if (alarm.metrics === undefined) continue;
  alarm.metrics = undefined;
  Object.assign(alarm, {
    namespace: "PaymentWorker",
    metricName: "Invalid",
    statistic: "Sum",
    period: 300,
  });
}
