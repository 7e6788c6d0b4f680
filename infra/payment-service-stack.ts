// One stage of the payment service as a stack, with the outputs that the commands of this project read.

import { CfnOutput, RemovalPolicy, Stack } from "aws-cdk-lib";
import * as secretsmanager from "aws-cdk-lib/aws-secretsmanager";
import * as sns from "aws-cdk-lib/aws-sns";
import type { Construct } from "constructs";

import { encryptionKey } from "./encryption-key.ts";
import { PaymentWorker } from "./payment-worker.ts";
import type { Stage } from "./stages.ts";

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
      ...(stage.customerManagedKey && {
        encryptionKey: encryptionKey(this, "Key", removalPolicy),
      }),
      ...(alarmTopicArn && { alarmTopic: sns.Topic.fromTopicArn(this, "Topic", alarmTopicArn) }),
      ...(stripeSecretArn && {
        stripeSecret: secretsmanager.Secret.fromSecretCompleteArn(this, "Secret", stripeSecretArn),
      }),
    });

    const output = (name: string, value: string, description: string) =>
      new CfnOutput(this, name, { value, description });
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
  }
}
