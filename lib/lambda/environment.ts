// The environment of each function, read and validated once, at the cold start.

import type { StripeMode } from "../stripe/api-key.ts";
import { DEFAULT_TIMINGS } from "../timing/payments.ts";
import type { WorkerTimings } from "../timing/payments.ts";
import {
  readBatchSize,
  readStripeKey,
  readStripeMode,
  readTimings,
  required,
  url,
} from "./variables.ts";
import type { Variables } from "./variables.ts";

export type Environment = {
  recordsTable: string;
  queueUrl: string;
  /** Where the Stripe key comes from: a Secrets Manager secret, or, local and SAM only, the key. */
  stripeKey: { secretArn: string } | { key: string };
  /** The mode that the key must be of; absent: either. */
  stripeMode?: StripeMode;
  /** Stripe's own address, or the local emulator's. */
  stripeBase: URL;
  functionName: string;
  memoryMb: number;
  /** The most messages that come in one batch. */
  batchSize: number;
  timings: WorkerTimings;
};

// Each of these throws an Error with a sentence for the operator.

export function readEnvironment(variables: Variables): Environment {
  return {
    ...readStripe(variables),
    recordsTable: required(variables, "RECORDS_TABLE"),
    queueUrl: requiredUrl(variables, "QUEUE_URL"),
    functionName: nameOf(variables, "payment-worker"),
    memoryMb: Number(variables["AWS_LAMBDA_FUNCTION_MEMORY_SIZE"] ?? 512),
    batchSize: readBatchSize(variables["BATCH_SIZE"] || String(DEFAULT_TIMINGS.batchSize)),
    timings: readTimings(variables),
  };
}

export function readPublisherEnvironment(variables: Variables): {
  eventBusName: string;
  /** The `source` of every event: it names the stage. */
  source: string;
  functionName: string;
  callTimeoutMs: number;
} {
  return {
    eventBusName: required(variables, "EVENT_BUS_NAME"),
    source: readSource(variables),
    functionName: nameOf(variables, "outcome-publisher"),
    callTimeoutMs: readTimings(variables).callTimeoutMs,
  };
}

export function readWebhookEnvironment(variables: Variables): {
  queueUrl: string;
  /** Where the signing secrets come from; themselves, local only. */
  webhookSecret: { secretArn: string } | { value: string };
  stripeMode?: StripeMode;
  functionName: string;
  callTimeoutMs: number;
} {
  const secretArn = variables["STRIPE_WEBHOOK_SECRET_ARN"];
  const value = variables["STRIPE_WEBHOOK_SECRET"];
  if (secretArn && value) {
    throw new Error(
      "STRIPE_WEBHOOK_SECRET_ARN and STRIPE_WEBHOOK_SECRET are both set: keep only one of them.",
    );
  }
  return {
    queueUrl: requiredUrl(variables, "STRIPE_EVENTS_QUEUE_URL"),
    webhookSecret: value
      ? { value }
      : { secretArn: required(variables, "STRIPE_WEBHOOK_SECRET_ARN") },
    ...readStripeMode(variables["STRIPE_MODE"]),
    functionName: nameOf(variables, "stripe-webhook"),
    callTimeoutMs: readTimings(variables).callTimeoutMs,
  };
}

/** The worker's, and the bus for refunds and disputes. */
export function readFinalizerEnvironment(
  variables: Variables,
): Environment & { eventBusName?: string; source: string } {
  const eventBusName = variables["EVENT_BUS_NAME"];
  return {
    ...readEnvironment(variables),
    functionName: nameOf(variables, "payment-finalizer"),
    source: readSource(variables),
    ...(eventBusName && { eventBusName }),
  };
}

export function readApiEnvironment(
  variables: Variables,
): Pick<Environment, "recordsTable" | "queueUrl" | "functionName" | "timings"> {
  return {
    recordsTable: required(variables, "RECORDS_TABLE"),
    queueUrl: requiredUrl(variables, "QUEUE_URL"),
    functionName: nameOf(variables, "payment-api"),
    timings: readTimings(variables),
  };
}

export function readFulfillmentEnvironment(
  variables: Variables,
): Pick<Environment, "queueUrl" | "functionName" | "timings"> & { ordersTable: string } {
  return {
    ordersTable: required(variables, "ORDERS_TABLE"),
    queueUrl: requiredUrl(variables, "QUEUE_URL"),
    functionName: nameOf(variables, "order-fulfillment"),
    timings: readTimings(variables),
  };
}

/** The worker's, with a bucket in the queue's place. */
export function readReconciliationEnvironment(
  variables: Variables,
): Omit<Environment, "queueUrl" | "batchSize" | "memoryMb"> & { reportBucket: string } {
  return {
    ...readStripe(variables),
    recordsTable: required(variables, "RECORDS_TABLE"),
    reportBucket: required(variables, "REPORT_BUCKET"),
    functionName: nameOf(variables, "reconciliation"),
    timings: readTimings(variables),
  };
}

const nameOf = (variables: Variables, local: string): string =>
  variables["AWS_LAMBDA_FUNCTION_NAME"] ?? local;

const requiredUrl = (variables: Variables, name: string): string =>
  url(name, required(variables, name)).href;

/** The `source` of every event: it names the stage. */
const readSource = (variables: Variables): string =>
  `urn:payment-worker:${variables["STAGE"] || "local"}`;

function readStripe(
  variables: Variables,
): Pick<Environment, "stripeKey" | "stripeMode" | "stripeBase"> {
  return {
    stripeKey: readStripeKey(variables),
    ...readStripeMode(variables["STRIPE_MODE"]),
    stripeBase: url("STRIPE_API_BASE", variables["STRIPE_API_BASE"] || "https://api.stripe.com"),
  };
}
