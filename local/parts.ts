// The functions around the payment worker as they are deployed on a laptop, each with its trigger.
import { fileURLToPath } from "node:url";

import type {
  FunctionSpec,
  ScheduleTrigger,
  StreamTrigger,
  UrlTrigger,
} from "./hosted-function.ts";
import { LOCAL_WORKER, paymentWorker } from "./payment-worker.ts";
import type { WorkerSettings } from "./payment-worker.ts";

/** The events that a webhook endpoint of a deployment is to be sent. */
const STRIPE_EVENTS: readonly string[] = [
  "payment_intent.succeeded",
  "payment_intent.payment_failed",
  "payment_intent.canceled",
  "payment_intent.requires_action",
  "payment_intent.processing",
  "charge.refunded",
  "charge.dispute.created",
  "charge.dispute.closed",
];

const bundleOf = (name: string): string =>
  fileURLToPath(new URL(`../dist/${name}/index.js`, import.meta.url));

const spec = <T extends FunctionSpec["trigger"]>(
  name: string,
  { functionTimeoutMs, env }: WorkerSettings,
  trigger: T,
) => ({ name, bundle: bundleOf(name), timeoutMs: functionTimeoutMs, env, trigger });

const queueTrigger = (queue: string, settings: WorkerSettings) => ({
  type: "queue" as const,
  queue,
  visibilityTimeoutSeconds: settings.visibilityTimeoutSeconds,
  maxReceiveCount: settings.maxReceiveCount,
  batchSize: settings.batchSize,
  concurrency: settings.concurrency,
});

/** Publishes outcome events from the records table's stream. */
export const outcomePublisher = (
  settings: Partial<StreamTrigger> = {},
  around: WorkerSettings = LOCAL_WORKER,
) =>
  spec("outcome-publisher", around, {
    type: "stream",
    batchSize: 10,
    retryAttempts: 20,
    retryPauseMs: 100,
    filter: ({ eventName, dynamodb }) =>
      eventName !== "REMOVE" && dynamodb.NewImage?.["status"]?.S === "COMPLETED",
    ...settings,
  } satisfies StreamTrigger);

/** Takes Stripe's events at an address of its own. */
export const stripeWebhook = (
  settings: Partial<UrlTrigger> = {},
  around: WorkerSettings = LOCAL_WORKER,
) =>
  spec("stripe-webhook", around, {
    type: "url",
    stripeEvents: STRIPE_EVENTS,
    ...settings,
  } satisfies UrlTrigger);

// An event that comes before its record waits for a killed worker's visibility timeout, by its
// backoff of seconds.
const EARLY_RECEIVES = 24;

/** Moves recorded outcomes forward. */
export const paymentFinalizer = (around: WorkerSettings = LOCAL_WORKER) =>
  spec("payment-finalizer", around, {
    ...queueTrigger("stripe-events", around),
    maxReceiveCount: EARLY_RECEIVES,
  });

/** Ships what was paid. */
export const orderFulfillment = (around: WorkerSettings = LOCAL_WORKER) =>
  spec("order-fulfillment", around, queueTrigger("orders", around));

/** The door for HTTP. */
export const paymentApi = (
  settings: Partial<UrlTrigger> = {},
  around: WorkerSettings = LOCAL_WORKER,
) => spec("payment-api", around, { type: "url", ...settings } satisfies UrlTrigger);

/**
 * Compares records and Stripe, by hand unless it has a period. The window ends later than in AWS, for a
 * laptop has no payments of yesterday: when a killed worker's message has come again.
 */
export const reconciliation = (
  settings: Partial<ScheduleTrigger> = {},
  around: WorkerSettings = LOCAL_WORKER,
) => ({
  ...spec("reconciliation", around, {
    type: "schedule",
    input: { now: true, delaySeconds: 60 },
    ...settings,
  } satisfies ScheduleTrigger),
  timeoutMs: 900_000,
});

/** The worker with everything around it; `ports` are those of the two addresses. */
export function everyFunction(
  settings: WorkerSettings = LOCAL_WORKER,
  {
    reconcileEveryMs,
    ...ports
  }: { api?: number; webhook?: number; reconcileEveryMs?: number } = {},
): [ReturnType<typeof paymentWorker>, ...FunctionSpec[]] {
  return [
    paymentWorker(settings),
    outcomePublisher({}, settings),
    paymentFinalizer(settings),
    orderFulfillment(settings),
    stripeWebhook({ port: ports.webhook ?? 0 }, settings),
    paymentApi({ port: ports.api ?? 0 }, settings),
    reconciliation(reconcileEveryMs === undefined ? {} : { everyMs: reconcileEveryMs }, settings),
  ];
}
