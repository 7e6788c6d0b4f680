import { CfnOutput, RemovalPolicy, Stack } from "aws-cdk-lib";
import type { Construct } from "constructs";
import { PaymentWorker } from "./payment-worker.ts";
import type { Stage } from "./stages.ts";

/** One stage of the payment worker, with the outputs that the commands of this project read. */
export class PaymentWorkerStack extends Stack {
  constructor(scope: Construct, id: string, stage: Stage) {
    super(scope, id, {
      description: `SQS to Stripe payment worker (${stage.name})`,
      ...(stage.env && { env: stage.env }),
      terminationProtection: stage.removalPolicy === RemovalPolicy.RETAIN,
    });
    const { worker, records, stripeSecret } = new PaymentWorker(this, "PaymentWorker", stage);

    const output = (name: string, value: string, description: string) =>
      new CfnOutput(this, name, { value, description });
    output("QueueUrl", worker.queues.queue.queueUrl, "Send payment messages here");
    output("DlqUrl", worker.queues.deadLetterQueue.queueUrl, "Messages that need an operator");
    output("TableName", records.table.tableName, "The idempotency records");
    output("FunctionName", worker.function.functionName, "The worker");
    output("SecretArn", stripeSecret.secretArn, "Put the Stripe key here, as a plain string");
    output("LogGroupName", worker.logGroup.logGroupName, "The worker's log");
  }
}
