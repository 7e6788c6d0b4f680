// The payment worker as a construct, to be placed in any stack.

import { Annotations, RemovalPolicy } from "aws-cdk-lib";
import type * as cloudwatch from "aws-cdk-lib/aws-cloudwatch";
import type * as dynamodb from "aws-cdk-lib/aws-dynamodb";
import type * as kms from "aws-cdk-lib/aws-kms";
import type * as lambda from "aws-cdk-lib/aws-lambda";
import type * as logs from "aws-cdk-lib/aws-logs";
import type * as sns from "aws-cdk-lib/aws-sns";
import type * as sqs from "aws-cdk-lib/aws-sqs";
import { Construct } from "constructs";

import { DEFAULT_TIMINGS, violations } from "../lib/timing/payments.ts";
import type { Timings } from "../lib/timing/payments.ts";
import { timingVariables } from "../lib/timing/variables.ts";
import { Alarms } from "./alarms.ts";
import { dashboard } from "./dashboard.ts";
import { allow } from "./execution-role.ts";
import type { ReadableSecret } from "./execution-role.ts";
import { QueueConsumer, throwIfBroken } from "./queue-consumer.ts";
import { RecordsTable } from "./records-table.ts";
import { emptyStripeSecret } from "./stripe-secret.ts";

export interface PaymentWorkerProps {
  /** `RETAIN`: the records, both queues, the secret and the logs outlive the stack. */
  readonly removalPolicy: RemovalPolicy.RETAIN | RemovalPolicy.DESTROY;
  /** Holds the Stripe key as a plain string. Absent: an empty one is created, for an operator to fill. */
  readonly stripeSecret?: ReadableSecret;
  /** Encrypts everything at rest. Absent: keys that AWS owns. See `encryptionKey()` for one that fits. */
  readonly encryptionKey?: kms.IKey;
  /** Notified when an alarm fires and when it clears. Absent: alarms show on the dashboard only. */
  readonly alarmTopic?: sns.ITopic;
  /**
   * `false` reserves no concurrency for the function: only for an account whose concurrency quota is too
   * small to reserve from (new accounts have 10). Another function may then starve this one. Default `true`.
   */
  readonly reserveConcurrency?: boolean;
  /** What differs from `DEFAULT_TIMINGS`, whose rules hold for the result too. */
  readonly timings?: Partial<Timings>;
}

/**
 * The payment worker, to be placed in any stack: send messages to `queue`.
 *
 * Throws when the timings break a rule, before anything is deployed: a lease shorter than an invocation
 * would charge customers twice, and no alarm would fire.
 */
export class PaymentWorker extends Construct {
  /** Producers send here: `queue.grantSendMessages(producer)`. */
  readonly queue: sqs.Queue;
  readonly deadLetterQueue: sqs.Queue;
  readonly table: dynamodb.Table;
  readonly function: lambda.Function;
  readonly logGroup: logs.LogGroup;
  readonly stripeSecret: ReadableSecret;
  readonly alarms: readonly cloudwatch.Alarm[];

  constructor(scope: Construct, id: string, props: PaymentWorkerProps) {
    super(scope, id);
    const timings = { ...DEFAULT_TIMINGS, ...props.timings };
    throwIfBroken(this, violations(timings));
    if (props.removalPolicy === RemovalPolicy.RETAIN && !props.alarmTopic) {
      Annotations.of(this).addWarningV2(
        "payment-worker:alarmTopic",
        "No alarm of this payment worker notifies anyone. Set `alarmTopicArn` for the stage in infra/stages.ts, or pass `alarmTopic` to the construct.",
      );
    }
    const shared = {
      removalPolicy: props.removalPolicy,
      ...(props.encryptionKey && { encryptionKey: props.encryptionKey }),
    };
    this.table = new RecordsTable(this, "Records", shared).table;
    this.stripeSecret = props.stripeSecret ?? emptyStripeSecret(this, "StripeKey", shared);
    const worker = new QueueConsumer(this, "Worker", {
      ...shared,
      messages: "Payments",
      bundle: "payment-worker",
      title: "payment worker",
      description: "Charges each message of the payment queue at most once",
      timings,
      reserveConcurrency: props.reserveConcurrency ?? true,
      environment: { RECORDS_TABLE: this.table.tableName, ...timingVariables(timings) },
      statements: [
        allow("Claim", ["dynamodb:PutItem", "dynamodb:UpdateItem"], this.table.tableArn),
      ],
      secrets: [{ name: "StripeKey", variable: "STRIPE_SECRET_ARN", secret: this.stripeSecret }],
    });
    this.queue = worker.queues.queue;
    this.deadLetterQueue = worker.queues.deadLetterQueue;
    this.function = worker.function;
    this.logGroup = worker.logGroup;
    this.alarms = new Alarms(this, "Alarms", {
      worker,
      timings,
      ...(props.alarmTopic && { topic: props.alarmTopic }),
    }).all;
    dashboard(this, "Dashboard", { worker, table: this.table, alarms: this.alarms });
  }
}
