// The worker's environment variables, read and validated once, at the cold start.

import {
  DEFAULT_TIMINGS,
  DEFAULT_WORKER_TIMINGS,
  MAX_BATCH_SIZE,
  TIMING_VARIABLES,
  workerViolations,
} from "../timing/timing.ts";
import type { WorkerTimings } from "../timing/timing.ts";

export type Environment = {
  recordsTable: string;
  queueUrl: string;
  /** Where the Stripe key comes from: a Secrets Manager secret, or, local and SAM only, the key. */
  stripeKey: { secretArn: string } | { key: string };
  /** Stripe's own address, or the local emulator's. */
  stripeBase: URL;
  functionName: string;
  /** The most messages that come in one batch. */
  batchSize: number;
  timings: WorkerTimings;
};

/**
 * Reads the worker's environment. Secret values never appear in an error.
 *
 * @throws Error with one sentence that names the variable and the rule.
 */
export function readEnvironment(variables: Record<string, string | undefined>): Environment {
  const required = (name: string): string => {
    const value = variables[name];
    if (!value) throw new Error(`${name} is not set: the worker cannot start without it.`);
    return value;
  };
  return {
    recordsTable: required("RECORDS_TABLE"),
    queueUrl: url("QUEUE_URL", required("QUEUE_URL")).href,
    stripeKey: readStripeKey(variables),
    stripeBase: url("STRIPE_API_BASE", variables["STRIPE_API_BASE"] || "https://api.stripe.com"),
    functionName: variables["AWS_LAMBDA_FUNCTION_NAME"] ?? "payment-worker",
    batchSize: readBatchSize(variables["BATCH_SIZE"] || String(DEFAULT_TIMINGS.batchSize)),
    timings: readTimings(variables),
  };
}

function readStripeKey(variables: Record<string, string | undefined>): Environment["stripeKey"] {
  const secretArn = variables["STRIPE_SECRET_ARN"];
  const key = variables["STRIPE_API_KEY"];
  if (secretArn && key) {
    throw new Error("STRIPE_SECRET_ARN and STRIPE_API_KEY are both set: keep only one of them.");
  }
  if (secretArn) return { secretArn };
  if (key) return { key };
  throw new Error(
    "STRIPE_SECRET_ARN is not set: it names the secret with the Stripe key (STRIPE_API_KEY holds the key itself, for local runs only).",
  );
}

function readBatchSize(value: string): number {
  const size = /^\d{1,3}$/.test(value) ? Number(value) : 0;
  if (size >= 1 && size <= MAX_BATCH_SIZE) return size;
  throw new Error(
    `BATCH_SIZE must be a number from 1 to ${MAX_BATCH_SIZE}, as in the event source.`,
  );
}

function readTimings(variables: Record<string, string | undefined>): WorkerTimings {
  const timings = { ...DEFAULT_WORKER_TIMINGS };
  for (const [key, variable] of Object.entries(TIMING_VARIABLES)) {
    const value = variables[variable];
    if (value === undefined || value === "") continue;
    if (!/^\d{1,9}(\.\d{1,3})?$/.test(value)) {
      throw new Error(`${variable} must be a number of seconds, such as 30 or 0.5.`);
    }
    timings[key as keyof WorkerTimings] = Math.round(Number(value) * 1_000);
  }
  const [violation] = workerViolations(timings);
  if (violation) {
    const named = Object.entries(TIMING_VARIABLES).reduce(
      (sentence, [key, variable]) => sentence.replaceAll(key, variable),
      violation,
    );
    throw new Error(`The worker's timings break a rule. ${named}`);
  }
  return timings;
}

function url(name: string, value: string): URL {
  const parsed = URL.parse(value);
  if (!parsed || !/^https?:$/.test(parsed.protocol)) {
    throw new Error(`${name} must be an http or https URL.`);
  }
  return parsed;
}
