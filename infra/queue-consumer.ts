// A queue, the function that empties it, and between them the event source.

import { Duration } from "aws-cdk-lib";
import type * as iam from "aws-cdk-lib/aws-iam";
import type * as lambda from "aws-cdk-lib/aws-lambda";
import type * as logs from "aws-cdk-lib/aws-logs";
import { Construct } from "constructs";

import { queueViolations } from "../lib/timing/queue.ts";
import type { QueueTimings } from "../lib/timing/queue.ts";
import { allow } from "./execution-role.ts";
import { lambdaFunction } from "./lambda-function.ts";
import type { FunctionProps } from "./lambda-function.ts";
import { Queues } from "./queues.ts";

export interface QueueConsumerProps extends Omit<FunctionProps, "timeout" | "reservedConcurrency"> {
  /** What the queue holds, such as "Payments": the id of its construct. */
  readonly messages: string;
  readonly timings: QueueTimings;
  /** `false`: the account's concurrency quota is too small to reserve from. */
  readonly reserveConcurrency: boolean;
}

/** Throws when the timings break a rule of queue consumers. */
export class QueueConsumer extends Construct {
  readonly queues: Queues;
  readonly function: lambda.Function;
  readonly logGroup: logs.LogGroup;
  readonly role: iam.Role;
  readonly eventSource: lambda.EventSourceMapping;

  constructor(scope: Construct, id: string, props: QueueConsumerProps) {
    super(scope, id);
    const { timings } = props;
    throwIfBroken(this, queueViolations(timings));
    this.queues = new Queues(this, "Queues", props);
    const { queue } = this.queues;
    const consume = allow(
      "Consume", // the event source polls with the function's role
      [
        "sqs:ReceiveMessage",
        "sqs:DeleteMessage",
        "sqs:GetQueueAttributes",
        "sqs:ChangeMessageVisibility",
      ],
      queue.queueArn,
    );
    const made = lambdaFunction(this, {
      ...props,
      statements: [...props.statements, consume],
      timeout: Duration.millis(timings.functionTimeoutMs),
      ...(props.reserveConcurrency && { reservedConcurrency: timings.reservedConcurrency }),
      environment: {
        ...props.environment,
        QUEUE_URL: queue.queueUrl,
        BATCH_SIZE: String(timings.batchSize),
      },
    });
    this.function = made.function;
    this.logGroup = made.logGroup;
    this.role = made.role;
    this.eventSource = this.function.addEventSourceMapping("EventSource", {
      eventSourceArn: queue.queueArn,
      batchSize: timings.batchSize,
      maxBatchingWindow: Duration.millis(timings.batchWindowMs),
      maxConcurrency: timings.eventSourceConcurrency,
      reportBatchItemFailures: true,
    });
  }
}

/** The rules of lib/timing/ that the timings of `construct` break, as one error. */
export function throwIfBroken(construct: Construct, broken: readonly string[]): void {
  if (broken.length === 0) return;
  const title = `${construct.node.path} breaks ${broken.length} rule(s) of lib/timing/:`;
  throw new Error([title, ...broken].join("\n- "));
}
