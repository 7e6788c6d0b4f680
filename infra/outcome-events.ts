// Outcome events: what became of each payment, for other services. The records table is the outbox, its
// stream the way out.

import { Duration } from "aws-cdk-lib";
import type * as cloudwatch from "aws-cdk-lib/aws-cloudwatch";
import * as events from "aws-cdk-lib/aws-events";
import type * as lambda from "aws-cdk-lib/aws-lambda";
import type * as s3 from "aws-cdk-lib/aws-s3";
import type * as sqs from "aws-cdk-lib/aws-sqs";
import { Construct } from "constructs";

import { DEFAULT_QUEUE_TIMINGS, queueViolations } from "../lib/timing/queue.ts";
import type { QueueTimings } from "../lib/timing/queue.ts";
import { timingVariables } from "../lib/timing/variables.ts";
import { alarmsOf, anyMessage } from "./alarm.ts";
import { addPart, counts, graph } from "./dashboard.ts";
import { EventDelivery } from "./event-delivery.ts";
import { allow, allowTableKey } from "./execution-role.ts";
import { lambdaFunction } from "./lambda-function.ts";
import { settingsOf } from "./part.ts";
import type { PaymentWorker } from "./payment-worker.ts";
import { privateBucket } from "./private-bucket.ts";
import { throwIfBroken } from "./queue-consumer.ts";
import { Queues } from "./queues.ts";
import { iteratorAge, mapStream, publisherAlarms, STREAM_READS } from "./record-stream.ts";

export interface OutcomeEventsProps {
  /** Made with `tableStream: true`, or with a table that has a stream of new and old images. */
  readonly worker: PaymentWorker;
  /** Ends the events' `source`, such as `prod` in `urn:payment-worker:prod`. */
  readonly stage: string;
}

export type PaymentResult =
  | "succeeded"
  | "processing"
  | "requires_action"
  | "declined"
  | "failed"
  | "canceled"
  | "refunded"
  | "disputed";

/** Which events a queue gets: of some results, or by a pattern of one's own. Default: every outcome. */
export type EventChoice =
  | { readonly results?: readonly PaymentResult[]; readonly pattern?: never }
  | { readonly pattern: events.EventPattern; readonly results?: never };

export class OutcomeEvents extends Construct {
  readonly bus: events.EventBus;
  readonly function: lambda.Function;
  readonly worker: PaymentWorker;
  readonly stage: string;
  /** What every event says it comes from. */
  readonly source: string;
  /** Changes that could not be published, whole. */
  readonly failures: s3.Bucket;
  readonly alarms: cloudwatch.Alarm[] = [];

  constructor(scope: Construct, id: string, props: OutcomeEventsProps) {
    super(scope, id);
    const { worker, stage } = props;
    this.worker = worker;
    this.stage = stage;
    this.source = `urn:payment-worker:${stage}`;
    const stream = worker.table.tableStreamArn;
    if (stream === undefined) {
      throw new Error(
        `${worker.node.path} has no stream to publish from: make it with \`tableStream: true\`, or its table with a stream of NEW_AND_OLD_IMAGES.`,
      );
    }
    const settings = settingsOf(worker);
    // Under a key that AWS owns: events hold ids and amounts, and nothing of a customer.
    this.bus = new events.EventBus(this, "Bus");
    void new events.Archive(this, "Archive", {
      sourceEventBus: this.bus,
      eventPattern: { source: ["payment-worker"] },
      retention: Duration.days(35), // as long as a record lives
    });
    this.failures = privateBucket(this, "Failures", {
      ...settings,
      expireAfter: Duration.days(35), // as long as a record lives, which can be published again
      noAccessLog:
        "Only Lambda writes here, only when a change could not be published, and an alarm fires then.",
      writes: {
        keys: "*",
        because:
          "Lambda chooses the names of what it puts into the bucket, and nothing else is in there.",
      },
    });
    const publisher = lambdaFunction(this, {
      ...settings,
      bundle: "outcome-publisher",
      title: "outcome publisher",
      description: "Publishes an event for each outcome that was recorded",
      timeout: Duration.minutes(1),
      environment: {
        EVENT_BUS_NAME: this.bus.eventBusName,
        STAGE: stage,
        ...timingVariables(worker.timings),
      },
      statements: [
        allow("ReadStream", STREAM_READS, stream),
        allow("Publish", ["events:PutEvents"], this.bus.eventBusArn),
        allow("KeepFailures", ["s3:PutObject"], this.failures.arnForObjects("*")),
        allow("FindFailures", ["s3:ListBucket"], this.failures.bucketArn),
        ...allowTableKey(this, worker.table, settings.encryptionKey),
      ],
    });
    this.function = publisher.function;
    const mapping = mapStream(this.function, stream, this.failures);
    this.alarms.push(...publisherAlarms(alarmsOf(this, worker.settings), this.function, mapping));
    addPart(worker.dashboard, "Are other services informed?", this.alarms, [
      graph("Outcome events", counts(this, ["Published", "PublishFailed"])),
      graph("Behind the table (ms)", [iteratorAge(this.function)]),
    ]);
  }

  /** A queue for one consumer of the events, with its dead-letter queue; nothing empties it here. */
  addQueue(id: string, choice: EventChoice & { timings?: Partial<QueueTimings> } = {}): Queues {
    const timings = { ...DEFAULT_QUEUE_TIMINGS, ...choice.timings };
    throwIfBroken(this, queueViolations(timings));
    const queues = new Queues(this, id, {
      ...settingsOf(this.worker),
      messages: "Events",
      timings,
    });
    this.deliverTo(`${id}Delivery`, queues.queue, choice);
    this.alarms.push(
      alarmsOf(queues, this.worker.settings)(
        "EventDeadLetters",
        "The consumer of a queue of outcome events failed with one of them until SQS moved it to the dead-letter queue. What should follow from that payment has not happened. Find the reason in the consumer's log, fix it, and redrive.",
        ...anyMessage(queues.deadLetterQueue),
      ),
    );
    return queues;
  }

  /** Sends events to a queue that a consumer of one's own has. */
  deliverTo(id: string, queue: sqs.IQueue, { results, pattern }: EventChoice = {}): EventDelivery {
    const delivery = new EventDelivery(this, id, {
      worker: this.worker,
      bus: this.bus,
      pattern: pattern ?? patternOf(results),
      queue,
    });
    this.alarms.push(delivery.alarm);
    return delivery;
  }
}

/** Outcomes have a revision; refunds and disputes, which change none, do not. */
function patternOf(results: readonly PaymentResult[] | undefined): events.EventPattern {
  return {
    source: ["payment-worker"],
    ...(results
      ? { detailType: results.map((result) => `payment.${result}`) }
      : { detail: { revision: [{ exists: true }] } }),
  };
}
