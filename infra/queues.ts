// A queue and its dead-letter queue, which accepts messages from no other.

import { ArnFormat, Duration, Names, Stack } from "aws-cdk-lib";
import type { RemovalPolicy } from "aws-cdk-lib";
import type * as kms from "aws-cdk-lib/aws-kms";
import * as sqs from "aws-cdk-lib/aws-sqs";
import { Construct } from "constructs";

import type { QueueTimings } from "../lib/timing/queue.ts";

export interface QueuesProps {
  /** What the queue holds, such as "Payments": the id of its construct. */
  readonly messages: string;
  readonly timings: QueueTimings;
  readonly removalPolicy: RemovalPolicy;
  /** Absent: SQS encrypts with a key of its own. */
  readonly encryptionKey?: kms.IKey;
}

export class Queues extends Construct {
  readonly queue: sqs.Queue;
  readonly deadLetterQueue: sqs.Queue;

  constructor(scope: Construct, id: string, props: QueuesProps) {
    super(scope, id);
    const { timings } = props;
    const shared = {
      enforceSSL: true,
      removalPolicy: props.removalPolicy,
      ...encryptionOf(props.encryptionKey),
    };
    // Each queue names the other, a circular dependency to CloudFormation: only a name that is known
    // beforehand lets the dead-letter queue reject every other source.
    const queueName = Names.uniqueResourceName(this, { maxLength: 80, separator: "-" });
    const queueArn = Stack.of(this).formatArn({
      service: "sqs",
      resource: queueName,
      arnFormat: ArnFormat.NO_RESOURCE_NAME,
    });
    this.deadLetterQueue = new sqs.Queue(this, "DeadLetters", {
      ...shared,
      retentionPeriod: Duration.millis(timings.deadLetterRetentionMs),
      redriveAllowPolicy: { sourceQueues: [sqs.Queue.fromQueueArn(this, "Source", queueArn)] },
    });
    this.queue = new sqs.Queue(this, props.messages, {
      queueName,
      ...shared,
      retentionPeriod: Duration.millis(timings.queueRetentionMs),
      visibilityTimeout: Duration.millis(timings.visibilityTimeoutMs),
      deadLetterQueue: { queue: this.deadLetterQueue, maxReceiveCount: timings.maxReceiveCount },
    });
  }
}

export const encryptionOf = (key: kms.IKey | undefined): sqs.QueueProps =>
  key === undefined
    ? { encryption: sqs.QueueEncryption.SQS_MANAGED }
    : { encryption: sqs.QueueEncryption.KMS, encryptionMasterKey: key };
