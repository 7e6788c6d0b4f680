// The dev stage as it is deployed, and beside it a second worker with a queue of its own on the same
// table; with PARTS=1 everything around the worker instead.
import { App, CfnOutput, RemovalPolicy } from "aws-cdk-lib";
import type { Key } from "aws-cdk-lib/aws-kms";

import type { OutcomeEvents } from "../../infra/outcome-events.ts";
import { PaymentServiceStack } from "../../infra/payment-service-stack.ts";
import { PaymentWorker } from "../../infra/payment-worker.ts";
import { dev } from "../../infra/stages.ts";
import { adaptForEmulator } from "./for-emulator.ts";

const parts = process.env["PARTS"] === "1";
const stack = new PaymentServiceStack(new App(), "PaymentWorker-dev", {
  ...dev,
  customerManagedKey: true,
  reserveConcurrency: true,
  ...(parts && {
    outcomeEvents: true,
    stripeEvents: true,
    orderFulfillment: true,
    paymentApi: true,
  }),
});
const worker = stack.node.findChild("PaymentWorker") as PaymentWorker;
const output = (id: string, value: string) => new CfnOutput(stack, id, { value });

if (parts) {
  const outcomes = stack.node.findChild("OutcomeEvents") as OutcomeEvents;
  const { queue } = outcomes.addQueue("Observer", { results: ["processing", "succeeded"] });
  output("ObserverQueueUrl", queue.queueUrl);
} else {
  const second = new PaymentWorker(stack, "Second", {
    removalPolicy: RemovalPolicy.DESTROY,
    reserveConcurrency: false,
    table: worker.table,
    stripeSecret: worker.stripeSecret,
    encryptionKey: stack.node.findChild("Key") as Key,
  });
  output("SecondQueueUrl", second.queue.queueUrl);
}

// What a redeployment changes.
worker.function.addEnvironment("REVISION", process.env["REVISION"] ?? "");
adaptForEmulator(stack);
