// The dev stage as it is deployed, but for what an emulator on this machine needs.
import { App, Fn } from "aws-cdk-lib";
import { CfnAlarm } from "aws-cdk-lib/aws-cloudwatch";
import { ManagedPolicy, PolicyStatement } from "aws-cdk-lib/aws-iam";
import { CfnSecret } from "aws-cdk-lib/aws-secretsmanager";

import { PaymentServiceStack } from "../../infra/payment-service-stack.ts";
import type { PaymentWorker } from "../../infra/payment-worker.ts";
import { dev } from "../../infra/stages.ts";

const stack = new PaymentServiceStack(new App(), "PaymentWorker-dev", {
  ...dev,
  customerManagedKey: true,
  reserveConcurrency: true,
});
const worker = stack.node.findChild("PaymentWorker") as PaymentWorker;

// The function's Stripe is a server of the suite's; REVISION is what a redeployment changes.
for (const name of ["STRIPE_API_BASE", "REVISION"]) {
  worker.function.addEnvironment(name, process.env[name] ?? "");
}

// AWS covers the batch call by the permission for the single one, and a secret's Ref is its ARN; the
// emulator wants the batch call named, and takes Ref for the name. Everything else it decides by the
// policy as it is.
const policy = worker.node.findAll().find((node) => node instanceof ManagedPolicy);
const secret = worker.node.findAll().find((node) => node instanceof CfnSecret);
policy?.addStatements(
  new PolicyStatement({
    actions: ["sqs:ChangeMessageVisibilityBatch"],
    resources: [worker.queue.queueArn],
  }),
  new PolicyStatement({
    actions: ["secretsmanager:GetSecretValue"],
    resources: [Fn.getAtt(stack.getLogicalId(secret as CfnSecret), "Id").toString()],
  }),
);

// The emulator refuses alarms on formulas: a plain metric stands in for each.
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
