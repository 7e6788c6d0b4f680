// The alarms of a deployment that has the local stack's timings, from its synthesized template, with the
// local stack's names. Run by itself, it prints them.
import { App, Duration, RemovalPolicy, Stack } from "aws-cdk-lib";
import type { CfnElement } from "aws-cdk-lib";
import { Template } from "aws-cdk-lib/assertions";
import { Alarm } from "aws-cdk-lib/aws-cloudwatch";

import { OrderFulfillment } from "../infra/order-fulfillment.ts";
import { OutcomeEvents } from "../infra/outcome-events.ts";
import { PaymentApi } from "../infra/payment-api.ts";
import { PaymentWorker } from "../infra/payment-worker.ts";
import { Reconciliation } from "../infra/reconciliation.ts";
import { StripeEvents } from "../infra/stripe-events.ts";
import { readTimings } from "../lib/lambda/variables.ts";
import { DEFAULT_TIMINGS } from "../lib/timing/payments.ts";
import { readAlarm } from "../local/alarms/definition.ts";
import type { AlarmDefinition, AlarmProperties } from "../local/alarms/definition.ts";
import { LOCAL_WORKER } from "../local/payment-worker.ts";
import type { WorkerSettings } from "../local/payment-worker.ts";

/** What a reference in the template is on the local stack, by the beginning of its logical id. */
const NAMES: readonly (readonly [RegExp, string])[] = [
  [/^PaymentWorkerQueuesDeadLetters/, "payments-dlq"],
  [/^PaymentWorkerQueuesPayments/, "payments"],
  [/^PaymentWorkerFunction/, "payment-worker"],
  [/^PaymentWorkerRecordsTable/, "payment-records"],
  [/^OutcomeEvents\w+Undelivered/, "undelivered"],
  [/^OutcomeEventsConsumer\w*DeadLetters/, "orders-dlq"], // the one consumer of a local stack
  [/^OutcomeEventsFunction/, "outcome-publisher"],
  [/^StripeEventsFinalizerQueuesDeadLetters/, "stripe-events-dlq"],
  [/^StripeEventsFinalizerQueues/, "stripe-events"],
  [/^StripeEventsFinalizerFunction/, "payment-finalizer"],
  [/^StripeEventsWebhookFunction/, "stripe-webhook"],
  [/^OrderFulfillmentConsumerQueuesDeadLetters/, "orders-dlq"],
  [/^OrderFulfillmentConsumerQueues/, "orders"],
  [/^ReconciliationFunction/, "reconciliation"],
  [/^PaymentApi/, "payment-api"],
];

/** Those of the worker and of every part around it. */
export function alarmDefinitions(
  settings: WorkerSettings = LOCAL_WORKER,
): (AlarmDefinition & { part: string })[] {
  process.env["CDK_VALIDATION"] = "false"; // takes seconds; cdk synth runs it
  // Lambda's timeout is a whole number of seconds, and the visibility timeout six of them.
  const functionTimeoutMs = 1_000 * Math.ceil(settings.functionTimeoutMs / 1_000);
  const visibilityTimeoutMs = Math.max(
    6 * functionTimeoutMs,
    1_000 * settings.visibilityTimeoutSeconds,
  );
  const stack = new Stack(new App(), "Local");
  const worker = new PaymentWorker(stack, "PaymentWorker", {
    removalPolicy: RemovalPolicy.DESTROY,
    tableStream: true,
    noTrafficFor: Duration.hours(2),
    timings: {
      ...DEFAULT_TIMINGS,
      ...readTimings(settings.env),
      functionTimeoutMs,
      visibilityTimeoutMs,
      batchWindowMs: 0,
      batchSize: settings.batchSize,
      eventSourceConcurrency: settings.concurrency,
      maxReceiveCount: settings.maxReceiveCount,
      outageMs: 100, // over in no time, on a laptop
    },
  });
  const outcomes = new OutcomeEvents(stack, "OutcomeEvents", { worker, stage: "local" });
  outcomes.addQueue("Consumer");
  void new StripeEvents(stack, "StripeEvents", { worker, outcomes });
  void new OrderFulfillment(stack, "OrderFulfillment", { outcomes });
  void new PaymentApi(stack, "PaymentApi", { worker });
  void new Reconciliation(stack, "Reconciliation", { worker });

  const resources = Template.fromStack(stack).findResources("AWS::CloudWatch::Alarm");
  return stack.node
    .findAll()
    .filter((construct) => construct instanceof Alarm)
    .map((alarm) => {
      const logicalId = stack.getLogicalId(alarm.node.defaultChild as CfnElement);
      const properties = resources[logicalId]?.["Properties"] as AlarmProperties;
      const [part = ""] = alarm.node.path.split("/").slice(1);
      return { ...readAlarm(alarm.node.id, properties, nameOf), part };
    });
}

function nameOf(value: unknown): string {
  if (typeof value === "string") return value;
  const { Ref, "Fn::GetAtt": [attributeOf = ""] = [] } = value as {
    Ref?: string;
    "Fn::GetAtt"?: string[];
  };
  const logicalId = Ref ?? attributeOf;
  const name = NAMES.find(([pattern]) => pattern.test(logicalId))?.[1];
  if (name === undefined) throw new Error(`Nothing on a local stack is ${logicalId}.`);
  return name;
}

if (import.meta.main) process.stdout.write(JSON.stringify(alarmDefinitions()));
