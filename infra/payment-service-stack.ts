// One stage of the payment service as a stack, with the outputs that the commands of this project read.

import { CfnOutput, RemovalPolicy, Stack } from "aws-cdk-lib";
import * as secretsmanager from "aws-cdk-lib/aws-secretsmanager";
import * as sns from "aws-cdk-lib/aws-sns";
import type { Construct } from "constructs";

import { encryptionKey } from "./encryption-key.ts";
import { OrderFulfillment } from "./order-fulfillment.ts";
import { OutcomeEvents } from "./outcome-events.ts";
import { PaymentApi } from "./payment-api.ts";
import { PaymentWorker } from "./payment-worker.ts";
import { Reconciliation } from "./reconciliation.ts";
import type { Stage } from "./stages.ts";
import { StripeEvents } from "./stripe-events.ts";

type Output = (name: string, value: string, description: string) => void;

export class PaymentServiceStack extends Stack {
  constructor(scope: Construct, id: string, stage: Stage) {
    super(scope, id, {
      description: `SQS to Stripe payment worker (${stage.name})`,
      ...(stage.env && { env: stage.env }),
      terminationProtection: stage.removalPolicy === RemovalPolicy.RETAIN,
    });
    const { removalPolicy, reserveConcurrency, stripeMode, alarmTopicArn, stripeSecretArn } = stage;
    const worker = new PaymentWorker(this, "PaymentWorker", {
      removalPolicy,
      reserveConcurrency,
      stripeMode,
      tableStream: stage.outcomeEvents === true,
      ...(stage.customerManagedKey && {
        encryptionKey: encryptionKey(this, "Key", removalPolicy),
      }),
      watchDeletion: stage.watchDeletion === true,
      ...(stage.timings && { timings: stage.timings }),
      ...(stage.noTrafficFor && { noTrafficFor: stage.noTrafficFor }),
      ...(alarmTopicArn && { alarmTopic: sns.Topic.fromTopicArn(this, "Topic", alarmTopicArn) }),
      ...(stripeSecretArn && {
        stripeSecret: secretsmanager.Secret.fromSecretCompleteArn(this, "Secret", stripeSecretArn),
      }),
    });

    const output: Output = (name, value, description) =>
      void new CfnOutput(this, name, { value, description });
    output("QueueUrl", worker.queue.queueUrl, "Send payment messages here");
    output(
      "DlqUrl",
      worker.deadLetterQueue.queueUrl,
      "The dead-letter queue: messages that need an operator",
    );
    output("TableName", worker.table.tableName, "The table of idempotency records");
    output("FunctionName", worker.function.functionName, "The function");
    output(
      "SecretArn",
      worker.stripeSecret.secretArn,
      "Store the Stripe API key here, as a plain string",
    );
    output("LogGroupName", worker.logGroup.logGroupName, "The log group of the function");
    addParts(worker, stage, output);
  }
}

/** What the stage has switched on around the worker. */
function addParts(worker: PaymentWorker, stage: Stage, output: Output): void {
  const { outcomeEvents, stripeEvents, orderFulfillment, paymentApi, reconciliation } = stage;
  const stack = Stack.of(worker);
  const outcomes = outcomeEvents
    ? new OutcomeEvents(stack, "OutcomeEvents", { worker, stage: stage.name })
    : undefined;
  if (outcomes) {
    output("EventBusName", outcomes.bus.eventBusName, "Outcome events come from this bus");
    output("EventSource", outcomes.source, "The source of the outcome events");
    output("FailedEventsBucket", outcomes.failures.bucketName, "What could not be published");
  }
  if (stripeEvents) {
    const events = new StripeEvents(stack, "StripeEvents", {
      worker,
      ...(outcomes && { outcomes }),
      ...(stripeEvents !== true && stripeEvents),
    });
    const { queue, deadLetterQueue } = events.finalizer.queues;
    output("WebhookUrl", events.url, "Let Stripe send its events here");
    output("WebhookSecretArn", events.webhookSecret.secretArn, "Store the signing secret here");
    output("StripeEventsQueueUrl", queue.queueUrl, "Stripe's events");
    output("StripeEventsDlqUrl", deadLetterQueue.queueUrl, "Stripe's events that need an operator");
  }
  if (orderFulfillment) {
    if (!outcomes) {
      throw new Error(`Stage ${stage.name} fulfills orders and has no outcomeEvents to do so.`);
    }
    const { table, consumer } = new OrderFulfillment(stack, "OrderFulfillment", { outcomes });
    output("OrdersTableName", table.tableName, "Orders are placed here");
    output(
      "OrdersDlqUrl",
      consumer.queues.deadLetterQueue.queueUrl,
      "Orders that need an operator",
    );
  }
  if (reconciliation) {
    const made = new Reconciliation(stack, "Reconciliation", { worker });
    const { logGroupName } = made.function.logGroup;
    output("ReconciliationLogGroupName", logGroupName, "What a reconciliation found");
    output("ReconciliationBucket", made.reports.bucketName, "The reports of the reconciliations");
  }
  if (paymentApi) {
    const options = paymentApi === true ? {} : paymentApi;
    const { url } = new PaymentApi(stack, "PaymentApi", { worker, ...options });
    output("ApiUrl", url, "POST payments here");
  }
}
