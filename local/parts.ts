// The functions around the payment worker as they are deployed on a laptop, each with its trigger.
import { fileURLToPath } from "node:url";

import type { FunctionSpec, StreamTrigger, UrlTrigger } from "./hosted-function.ts";
import { LOCAL_WORKER } from "./payment-worker.ts";

/** The events that a webhook endpoint of a deployment is to be sent. */
export const STRIPE_EVENTS: readonly string[] = [
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

const spec = <T extends FunctionSpec["trigger"]>(name: string, trigger: T) => ({
  name,
  bundle: bundleOf(name),
  timeoutMs: LOCAL_WORKER.functionTimeoutMs,
  env: LOCAL_WORKER.env,
  trigger,
});

const queueTrigger = (queue: string) => ({
  type: "queue" as const,
  queue,
  visibilityTimeoutSeconds: LOCAL_WORKER.visibilityTimeoutSeconds,
  maxReceiveCount: LOCAL_WORKER.maxReceiveCount,
  batchSize: LOCAL_WORKER.batchSize,
  batchWindowSeconds: 0,
  concurrency: LOCAL_WORKER.concurrency,
});

/** Publishes outcome events from the records table's stream. */
export const outcomePublisher = (settings: Partial<StreamTrigger> = {}) =>
  spec("outcome-publisher", {
    type: "stream",
    batchSize: 10,
    retryAttempts: 20,
    retryPauseMs: 100,
    filter: ({ eventName, dynamodb }) =>
      eventName !== "REMOVE" && dynamodb.NewImage?.["status"]?.S === "COMPLETED",
    ...settings,
  } satisfies StreamTrigger);

/** Takes Stripe's events at an address of its own. */
export const stripeWebhook = (settings: Partial<UrlTrigger> = {}) =>
  spec("stripe-webhook", {
    type: "url",
    stripeEvents: STRIPE_EVENTS,
    ...settings,
  } satisfies UrlTrigger);

/** Moves recorded outcomes forward. */
export const paymentFinalizer = () => spec("payment-finalizer", queueTrigger("stripe-events"));

/** Ships what was paid. */
export const orderFulfillment = () => spec("order-fulfillment", queueTrigger("orders"));

/** The door for HTTP. */
export const paymentApi = (settings: Partial<UrlTrigger> = {}) =>
  spec("payment-api", { type: "url", ...settings } satisfies UrlTrigger);
