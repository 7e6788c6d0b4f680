// Stripe's events: what became of a payment after its outcome was recorded. A function URL or Stripe's
// EventBridge destination puts them into one queue, and the payment finalizer asks Stripe about each.

import { Duration } from "aws-cdk-lib";
import type * as cloudwatch from "aws-cdk-lib/aws-cloudwatch";
import * as events from "aws-cdk-lib/aws-events";
import * as lambda from "aws-cdk-lib/aws-lambda";
import { Construct } from "constructs";

import { STRIPE_EVENT_TIMINGS } from "../lib/timing/queue.ts";
import { timingVariables } from "../lib/timing/variables.ts";
import { addPart, counts, graph, queueGraph } from "./dashboard.ts";
import { EventDelivery } from "./event-delivery.ts";
import { allow, allowTableKey } from "./execution-role.ts";
import type { ReadableSecret } from "./execution-role.ts";
import { lambdaFunction, WAITING_MB } from "./lambda-function.ts";
import type { LambdaFunction } from "./lambda-function.ts";
import type { OutcomeEvents } from "./outcome-events.ts";
import { reserves, settingsOf } from "./part.ts";
import type { PaymentWorker } from "./payment-worker.ts";
import { QueueConsumer } from "./queue-consumer.ts";
import { stripeEventAlarms } from "./stripe-event-alarms.ts";
import { emptyStripeSecret } from "./stripe-secret.ts";

export interface StripeEventsProps {
  readonly worker: PaymentWorker;
  /** Where refunds and disputes are reported too. Absent: to the log and the metrics only. */
  readonly outcomes?: OutcomeEvents;
  /** Holds the webhook's signing secret. Absent: an empty one is created, for an operator to fill. */
  readonly webhookSecret?: ReadableSecret;
  /**
   * The name of Stripe's EventBridge destination, `aws.partner/stripe.com/ed_…`, once Stripe has made it:
   * its events come in beside those of the webhook.
   */
  readonly partnerEventSource?: string;
}

/** At once. Stripe sends a few; a flood at the public address is throttled here, and the worker is not. */
const WEBHOOK_CONCURRENCY = 10;

export class StripeEvents extends Construct {
  /** For Stripe's dashboard: where the webhook is. */
  readonly url: string;
  readonly webhookSecret: ReadableSecret;
  readonly webhook: LambdaFunction;
  readonly finalizer: QueueConsumer;
  readonly alarms: readonly cloudwatch.Alarm[];

  constructor(scope: Construct, id: string, props: StripeEventsProps) {
    super(scope, id);
    const { worker, outcomes, partnerEventSource } = props;
    this.webhookSecret =
      props.webhookSecret ??
      emptyStripeSecret(this, "WebhookSecret", {
        ...settingsOf(worker),
        description: "The signing secret of the Stripe webhook, as a plain string",
      });
    this.finalizer = paymentFinalizer(this, worker, outcomes);
    this.webhook = stripeWebhook(new Construct(this, "Webhook"), this, worker);
    const { NONE: authType } = lambda.FunctionUrlAuthType; // Stripe signs what it sends
    this.url = this.webhook.function.addFunctionUrl({ authType }).url;
    const { queues } = this.finalizer;
    this.alarms = [
      ...stripeEventAlarms(this, worker.settings),
      ...(partnerEventSource === undefined ? [] : [this.listen(worker, partnerEventSource)]),
    ];
    addPart(
      worker.dashboard,
      "What became of payments later?",
      [...this.alarms],
      [
        graph(
          "Webhook",
          counts(this.webhook, ["WebhookAccepted", "WebhookInvalid", "WebhookFailed"]),
        ),
        queueGraph("Stripe's events", queues),
        graph("Found at Stripe", counts(this.finalizer, ["Advanced", "Duplicate", "Unmatched"])),
      ],
    );
  }

  /** The bus has to be named as its source, and CloudFormation makes it only when Stripe has made that. */
  private listen(worker: PaymentWorker, eventSourceName: string): cloudwatch.Alarm {
    return new EventDelivery(this, "PartnerDelivery", {
      worker,
      bus: new events.EventBus(this, "PartnerBus", { eventSourceName }),
      pattern: { source: [eventSourceName] },
      queue: this.finalizer.queues.queue,
    }).alarm;
  }
}

function paymentFinalizer(
  scope: Construct,
  worker: PaymentWorker,
  outcomes: OutcomeEvents | undefined,
): QueueConsumer {
  const settings = settingsOf(worker);
  const { table, stripeSecret } = worker;
  return new QueueConsumer(scope, "Finalizer", {
    ...settings,
    messages: "StripeEvents",
    bundle: "payment-finalizer",
    title: "payment finalizer",
    description: "Moves recorded outcomes forward to what Stripe says of their payments",
    timings: STRIPE_EVENT_TIMINGS,
    memorySize: WAITING_MB,
    reserveConcurrency: reserves(worker),
    environment: {
      RECORDS_TABLE: table.tableName,
      ...stripeMode(worker),
      ...(outcomes && { EVENT_BUS_NAME: outcomes.bus.eventBusName, STAGE: outcomes.stage }),
      ...timingVariables(worker.timings),
    },
    statements: [
      allow("MoveForward", ["dynamodb:UpdateItem"], table.tableArn),
      ...allowTableKey(scope, table, settings.encryptionKey),
      ...(outcomes ? [allow("Report", ["events:PutEvents"], outcomes.bus.eventBusArn)] : []),
    ],
    secrets: [{ name: "StripeKey", variable: "STRIPE_SECRET_ARN", secret: stripeSecret }],
  });
}

function stripeWebhook(
  scope: Construct,
  { finalizer, webhookSecret }: StripeEvents,
  worker: PaymentWorker,
): LambdaFunction {
  const { queue } = finalizer.queues;
  return lambdaFunction(scope, {
    ...settingsOf(worker),
    bundle: "stripe-webhook",
    title: "Stripe webhook",
    description: "Verifies Stripe's events and sends them to their queue",
    timeout: Duration.seconds(15), // two reads of the secret and one send, at their slowest
    ...(reserves(worker) && { reservedConcurrency: WEBHOOK_CONCURRENCY }),
    environment: {
      STRIPE_EVENTS_QUEUE_URL: queue.queueUrl,
      ...stripeMode(worker),
      ...timingVariables(worker.timings),
    },
    statements: [allow("Enqueue", ["sqs:SendMessage"], queue.queueArn)],
    secrets: [
      { name: "WebhookSecret", variable: "STRIPE_WEBHOOK_SECRET_ARN", secret: webhookSecret },
    ],
  });
}

const stripeMode = ({ settings }: PaymentWorker) =>
  settings.stripeMode ? { STRIPE_MODE: settings.stripeMode } : {};
