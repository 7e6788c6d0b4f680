// The payment worker as a construct, to be placed in any stack.

import { Annotations, RemovalPolicy } from "aws-cdk-lib";
import type { Duration } from "aws-cdk-lib";
import type * as cloudwatch from "aws-cdk-lib/aws-cloudwatch";
import type * as dynamodb from "aws-cdk-lib/aws-dynamodb";
import type * as iam from "aws-cdk-lib/aws-iam";
import type * as kms from "aws-cdk-lib/aws-kms";
import type * as lambda from "aws-cdk-lib/aws-lambda";
import type * as logs from "aws-cdk-lib/aws-logs";
import type * as sqs from "aws-cdk-lib/aws-sqs";
import { Construct } from "constructs";

import { DEFAULT_TIMINGS, violations } from "../lib/timing/payments.ts";
import type { Timings } from "../lib/timing/payments.ts";
import { timingVariables } from "../lib/timing/variables.ts";
import type { Notified } from "./alarm.ts";
import { Alarms } from "./alarms.ts";
import { dashboard } from "./dashboard.ts";
import { watchDeletion } from "./deletion-watch.ts";
import { allow, allowTableKey } from "./execution-role.ts";
import type { ReadableSecret } from "./execution-role.ts";
import { WAITING_MB } from "./lambda-function.ts";
import type { Network } from "./lambda-function.ts";
import { QueueConsumer, throwIfBroken } from "./queue-consumer.ts";
import { checkRecordsTable, RecordsTable } from "./records-table.ts";
import { emptyStripeSecret } from "./stripe-secret.ts";

export interface PaymentWorkerProps extends Notified {
  /** `RETAIN`: the records, both queues, the secret and the logs outlive the stack. */
  readonly removalPolicy: RemovalPolicy.RETAIN | RemovalPolicy.DESTROY;
  /** Holds the Stripe key as a plain string. Absent: an empty one is created, for an operator to fill. */
  readonly stripeSecret?: ReadableSecret;
  /** The mode of the Stripe key: with one of the other mode, nothing is charged. Absent: either. */
  readonly stripeMode?: "live" | "test";
  /**
   * A table that holds the records of several workers already, such as another one's `table`, with its own
   * key. Absent: a new one. Workers with the same senders share one: an id that reaches two of them is then
   * charged once, however late.
   */
  readonly table?: dynamodb.ITable | dynamodb.Table;
  /** Whether the new table has a stream, which `OutcomeEvents` publishes from. */
  readonly tableStream?: boolean;
  /** Encrypts everything at rest that is made here. Absent: keys that AWS owns. */
  readonly encryptionKey?: kms.IKey;
  /** Notifies `alarmTopic` when the secret or the key is about to be deleted. Default `false`. */
  readonly watchDeletion?: boolean;
  /**
   * An alarm fires when no message was sent for so long, from a minute to a day. Absent: none does, for
   * only the senders know how long is too long.
   */
  readonly noTrafficFor?: Duration;
  /**
   * `false` reserves no concurrency for the function: only for an account whose concurrency quota is too
   * small to reserve from (new accounts have 10). Another function may then starve this one. Default `true`.
   */
  readonly reserveConcurrency?: boolean;
  /** The VPC that the function is in. Absent: none, and it needs none. */
  readonly network?: Network;
  /** In MB, default 256. Lambda gives CPU in proportion. */
  readonly memorySize?: number;
  /** How long the log is kept. Default: six months, for a payment may be disputed for up to 120 days. */
  readonly logRetention?: logs.RetentionDays;
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
  /** Producers send here: see `grantSend`. */
  readonly queue: sqs.Queue;
  readonly deadLetterQueue: sqs.Queue;
  readonly table: dynamodb.ITable;
  readonly function: lambda.Function;
  readonly role: iam.Role;
  readonly eventSource: lambda.EventSourceMapping;
  readonly logGroup: logs.LogGroup;
  readonly stripeSecret: ReadableSecret;
  readonly alarms: readonly cloudwatch.Alarm[];
  readonly dashboard: cloudwatch.Dashboard;
  /** Checked. What is built around the worker runs on the same. */
  readonly timings: Timings;
  /** As given, for what is built around the worker. */
  readonly settings: PaymentWorkerProps;

  constructor(scope: Construct, id: string, props: PaymentWorkerProps) {
    super(scope, id);
    const timings = { ...DEFAULT_TIMINGS, ...props.timings };
    throwIfBroken(this, violations(timings));
    this.timings = timings;
    this.settings = props;
    if (props.removalPolicy === RemovalPolicy.RETAIN && !props.alarmTopic && !props.alarmActions) {
      Annotations.of(this).addWarningV2(
        "payment-worker:alarmTopic",
        "No alarm of this payment worker notifies anyone. Set `alarmTopicArn` for the stage in infra/stages.ts, or pass `alarmTopic` to the construct.",
      );
    }
    const shared = {
      removalPolicy: props.removalPolicy,
      ...(props.encryptionKey && { encryptionKey: props.encryptionKey }),
    };
    if (props.table) checkRecordsTable(props.table);
    const stream = props.tableStream === true;
    const table = props.table ?? new RecordsTable(this, "Records", { ...shared, stream }).table;
    this.table = table as dynamodb.ITable; // as exactOptionalPropertyTypes would not have it
    this.stripeSecret = props.stripeSecret ?? emptyStripeSecret(this, "StripeKey", shared);
    const worker = new QueueConsumer(this, "Worker", {
      ...shared,
      messages: "Payments",
      bundle: "payment-worker",
      title: "payment worker",
      description: "Charges each message of the payment queue at most once",
      timings,
      reserveConcurrency: props.reserveConcurrency ?? true,
      environment: {
        RECORDS_TABLE: this.table.tableName,
        ...(props.stripeMode && { STRIPE_MODE: props.stripeMode }),
        ...timingVariables(timings),
      },
      statements: [
        allow("Claim", ["dynamodb:PutItem", "dynamodb:UpdateItem"], this.table.tableArn),
        ...allowTableKey(this, this.table, props.encryptionKey),
      ],
      ...(props.network && { network: props.network }),
      memorySize: props.memorySize ?? WAITING_MB,
      ...(props.logRetention !== undefined && { logRetention: props.logRetention }),
      secrets: [{ name: "StripeKey", variable: "STRIPE_SECRET_ARN", secret: this.stripeSecret }],
    });
    this.queue = worker.queues.queue;
    this.deadLetterQueue = worker.queues.deadLetterQueue;
    this.function = worker.function;
    this.role = worker.role;
    this.eventSource = worker.eventSource;
    this.logGroup = worker.logGroup;
    this.alarms = new Alarms(this, "Alarms", {
      ...props,
      worker,
      table: this.table,
      timings,
    }).all;
    if (props.watchDeletion && props.alarmTopic) {
      watchDeletion(this, props.alarmTopic, {
        secret: this.stripeSecret,
        key: props.encryptionKey,
      });
    }
    this.dashboard = dashboard(this, "Dashboard", {
      worker,
      table: this.table,
      alarms: this.alarms,
    });
  }

  /** Lets a producer send to the queue, and use the queue's key for it. */
  grantSend(producer: iam.IGrantable): iam.Grant {
    return this.queue.grantSendMessages(producer);
  }
}
