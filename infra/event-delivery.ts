// A rule of an event bus whose target is a queue: never without a dead-letter queue for what EventBridge
// cannot deliver, which it would drop after a day.
// https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-rule-retry-policy.html

import { Duration } from "aws-cdk-lib";
import type * as cloudwatch from "aws-cdk-lib/aws-cloudwatch";
import * as events from "aws-cdk-lib/aws-events";
import * as targets from "aws-cdk-lib/aws-events-targets";
import * as sqs from "aws-cdk-lib/aws-sqs";
import { Construct } from "constructs";

import { acknowledge } from "./acknowledge.ts";
import { alarmsOf, anyMessage } from "./alarm.ts";
import { settingsOf } from "./part.ts";
import type { PaymentWorker } from "./payment-worker.ts";
import { encryptionOf } from "./queues.ts";

export interface EventDeliveryProps {
  readonly worker: PaymentWorker;
  readonly bus: events.EventBus;
  readonly pattern: events.EventPattern;
  /** One of this app: the rule changes its policy, and that of its key. */
  readonly queue: sqs.IQueue;
}

export class EventDelivery extends Construct {
  readonly alarm: cloudwatch.Alarm;
  /** What could not be delivered. */
  readonly undelivered: sqs.Queue;

  constructor(scope: Construct, id: string, props: EventDeliveryProps) {
    super(scope, id);
    const { worker, bus, pattern, queue } = props;
    const { removalPolicy, encryptionKey } = settingsOf(worker);
    this.undelivered = new sqs.Queue(this, "Undelivered", {
      enforceSSL: true,
      removalPolicy,
      retentionPeriod: Duration.days(14), // the most that SQS offers
      ...encryptionOf(encryptionKey),
    });
    acknowledge(this.undelivered, "AwsSolutions-SQS3", "It is the rule's dead-letter queue.");
    void new events.Rule(this, "Rule", {
      eventBus: bus,
      eventPattern: pattern,
      targets: [new targets.SqsQueue(queue, { deadLetterQueue: this.undelivered })],
    });
    this.alarm = alarmsOf(this, worker.settings)(
      "EventsNotDelivered",
      "EventBridge could not deliver an event to its queue for a day, or was not allowed to. It waits in the queue Undelivered, with the reason in its attribute ERROR_CODE, and its consumer knows nothing of it. Look at the policies of the queue and of its key.",
      ...anyMessage(this.undelivered),
    );
  }
}
