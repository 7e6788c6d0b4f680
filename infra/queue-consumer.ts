import { existsSync } from "node:fs";
import { join } from "node:path";

import { Duration } from "aws-cdk-lib";
import type { RemovalPolicy } from "aws-cdk-lib";
import type * as dynamodb from "aws-cdk-lib/aws-dynamodb";
import type * as kms from "aws-cdk-lib/aws-kms";
import * as lambda from "aws-cdk-lib/aws-lambda";
import * as logs from "aws-cdk-lib/aws-logs";
import { Construct } from "constructs";

import { timingVariables } from "../lib/timing/timing.ts";
import type { Timings } from "../lib/timing/timing.ts";
import { executionRole } from "./execution-role.ts";
import { Queues } from "./queues.ts";
import type { StripeSecret } from "./stripe-secret.ts";

/** Lambda gives CPU in proportion; below this, a cold start over TLS takes longer than it saves money. */
export const MEMORY_MB = 512;

const BUNDLE = join(import.meta.dirname, "..", "dist", "payment-worker");

export interface WorkerProps {
  readonly timings: Timings;
  readonly reserveConcurrency: boolean;
  readonly table: dynamodb.Table;
  readonly stripeSecret: StripeSecret;
  readonly removalPolicy: RemovalPolicy;
  readonly encryptionKey?: kms.IKey;
}

/** The queue, the function that empties it, and between them the event source. */
export class Worker extends Construct {
  readonly queues: Queues;
  readonly function: lambda.Function;
  readonly logGroup: logs.LogGroup;

  constructor(scope: Construct, id: string, props: WorkerProps) {
    super(scope, id);
    const { timings } = props;
    this.queues = new Queues(this, "Queues", props);
    this.logGroup = new logs.LogGroup(this, "Logs", {
      retention: logs.RetentionDays.SIX_MONTHS, // a payment may be disputed for up to 120 days
      removalPolicy: props.removalPolicy,
      ...(props.encryptionKey && { encryptionKey: props.encryptionKey }),
    });
    this.function = new lambda.Function(this, "Function", {
      description: "Charges each message of the payment queue at most once",
      runtime: lambda.Runtime.NODEJS_24_X,
      architecture: lambda.Architecture.ARM_64,
      handler: "init.handler", // index.js, warmed up in init: see scripts/build.ts
      code: bundle(),
      role: executionRole(this, {
        ...props,
        queue: this.queues.queue,
        logGroup: this.logGroup,
      }),
      memorySize: MEMORY_MB,
      timeout: Duration.millis(timings.functionTimeoutMs),
      ...(props.reserveConcurrency && {
        reservedConcurrentExecutions: timings.reservedConcurrency,
      }),
      loggingFormat: lambda.LoggingFormat.JSON,
      logGroup: this.logGroup,
      environment: {
        RECORDS_TABLE: props.table.tableName,
        QUEUE_URL: this.queues.queue.queueUrl,
        STRIPE_SECRET_ARN: props.stripeSecret.secretArn,
        BATCH_SIZE: String(timings.batchSize),
        ...timingVariables(timings),
      },
    });
    this.function.addEventSourceMapping("EventSource", {
      eventSourceArn: this.queues.queue.queueArn,
      batchSize: timings.batchSize,
      maxBatchingWindow: Duration.millis(timings.batchWindowMs),
      maxConcurrency: timings.eventSourceConcurrency,
      reportBatchItemFailures: true,
    });
  }
}

/** The bundle that every other part of the project runs too. */
function bundle(): lambda.Code {
  if (!existsSync(join(BUNDLE, "index.js"))) {
    throw new Error(`${BUNDLE} holds no index.js: run \`npm run build\` before synthesis.`);
  }
  return lambda.Code.fromAsset(BUNDLE);
}
