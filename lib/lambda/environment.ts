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

/**
 * Reads the payment worker's environment.
 *
 * @throws Error with a sentence for the operator
 */
export function readEnvironment(variables: Variables): Environment {
  return {
    recordsTable: required(variables, "RECORDS_TABLE"),
    queueUrl: url("QUEUE_URL", required(variables, "QUEUE_URL")).href,
    stripeKey: readStripeKey(variables),
    ...readStripeMode(variables["STRIPE_MODE"]),
    stripeBase: url("STRIPE_API_BASE", variables["STRIPE_API_BASE"] || "https://api.stripe.com"),
    functionName: variables["AWS_LAMBDA_FUNCTION_NAME"] ?? "payment-worker",
    memoryMb: Number(variables["AWS_LAMBDA_FUNCTION_MEMORY_SIZE"] ?? 512),
    batchSize: readBatchSize(variables["BATCH_SIZE"] || String(DEFAULT_TIMINGS.batchSize)),
    timings: readTimings(variables),
  };
}

/**
 * Reads the outcome publisher's environment.
 *
 * @throws Error with a sentence for the operator
 */
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
    functionName: variables["AWS_LAMBDA_FUNCTION_NAME"] ?? "outcome-publisher",
    callTimeoutMs: readTimings(variables).callTimeoutMs,
  };
}

/**
 * Reads the environment of the webhook.
 *
 * @throws Error with a sentence for the operator
 */
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
    queueUrl: url("STRIPE_EVENTS_QUEUE_URL", required(variables, "STRIPE_EVENTS_QUEUE_URL")).href,
    webhookSecret: value
      ? { value }
      : { secretArn: required(variables, "STRIPE_WEBHOOK_SECRET_ARN") },
    ...readStripeMode(variables["STRIPE_MODE"]),
    functionName: variables["AWS_LAMBDA_FUNCTION_NAME"] ?? "stripe-webhook",
    callTimeoutMs: readTimings(variables).callTimeoutMs,
  };
}

/**
 * Reads the payment finalizer's environment: the worker's, and the bus for refunds and disputes.
 *
 * @throws Error with a sentence for the operator
 */
export function readFinalizerEnvironment(
  variables: Variables,
): Environment & { eventBusName?: string; source: string } {
  const eventBusName = variables["EVENT_BUS_NAME"];
  return {
    ...readEnvironment(variables),
    functionName: variables["AWS_LAMBDA_FUNCTION_NAME"] ?? "payment-finalizer",
    source: readSource(variables),
    ...(eventBusName && { eventBusName }),
  };
}

/**
 * Reads the payment API's environment.
 *
 * @throws Error with a sentence for the operator
 */
export function readApiEnvironment(
  variables: Variables,
): Pick<Environment, "recordsTable" | "queueUrl" | "functionName" | "timings"> {
  return {
    recordsTable: required(variables, "RECORDS_TABLE"),
    queueUrl: url("QUEUE_URL", required(variables, "QUEUE_URL")).href,
    functionName: variables["AWS_LAMBDA_FUNCTION_NAME"] ?? "payment-api",
    timings: readTimings(variables),
  };
}

/**
 * Reads the environment of order fulfillment.
 *
 * @throws Error with a sentence for the operator
 */
export function readFulfillmentEnvironment(variables: Variables): {
  ordersTable: string;
  queueUrl: string;
  functionName: string;
  timings: WorkerTimings;
} {
  return {
    ordersTable: required(variables, "ORDERS_TABLE"),
    queueUrl: url("QUEUE_URL", required(variables, "QUEUE_URL")).href,
    functionName: variables["AWS_LAMBDA_FUNCTION_NAME"] ?? "order-fulfillment",
    timings: readTimings(variables),
  };
}

/**
 * Reads the reconciliation's environment: the worker's, with a bucket in the queue's place.
 *
 * @throws Error with a sentence for the operator
 */
export function readReconciliationEnvironment(
  variables: Variables,
): Omit<Environment, "queueUrl" | "batchSize" | "memoryMb"> & { reportBucket: string } {
  return {
    recordsTable: required(variables, "RECORDS_TABLE"),
    reportBucket: required(variables, "REPORT_BUCKET"),
    stripeKey: readStripeKey(variables),
    ...readStripeMode(variables["STRIPE_MODE"]),
    stripeBase: url("STRIPE_API_BASE", variables["STRIPE_API_BASE"] || "https://api.stripe.com"),
    functionName: variables["AWS_LAMBDA_FUNCTION_NAME"] ?? "reconciliation",
    timings: readTimings(variables),
  };
}

/** The `source` of every event: it names the stage. */
function readSource(variables: Variables): string {
  return `urn:payment-worker:${variables["STAGE"] || "local"}`;
}
