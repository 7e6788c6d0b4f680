// Environment variables, read and validated once, at the cold start. Secret values never appear in
// an error; each is one sentence that names the variable and the rule.

import type { AwsSettings } from "../aws/clients.ts";
import type { StripeMode } from "../stripe/api-key.ts";
import { DEFAULT_TIMINGS, DEFAULT_WORKER_TIMINGS, workerViolations } from "../timing/payments.ts";
import type { WorkerTimings } from "../timing/payments.ts";
import { MAX_BATCH_SIZE } from "../timing/queue.ts";
import { TIMING_VARIABLES } from "../timing/variables.ts";

export type Variables = Readonly<Record<string, string | undefined>>;

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
    source: `urn:payment-worker:${variables["STAGE"] || "local"}`,
    functionName: variables["AWS_LAMBDA_FUNCTION_NAME"] ?? "outcome-publisher",
    callTimeoutMs: readTimings(variables).callTimeoutMs,
  };
}

/** Where DynamoDB is, when the environment names another address than the region's. */
export function readDynamoDbEndpoint(variables: Variables): string | undefined {
  return variables["AWS_ENDPOINT_URL_DYNAMODB"] || variables["AWS_ENDPOINT_URL"] || undefined;
}

/**
 * What Lambda hands over from the function's role: valid for longer than the process lives, so
 * there is nothing to refresh, and the SDK's chain of providers stays out of the bundle.
 * https://docs.aws.amazon.com/lambda/latest/dg/configuration-envvars.html#configuration-envvars-runtime
 *
 * @throws Error when they are missing
 */
export function readCredentials(variables: Variables): AwsSettings["credentials"] {
  const accessKeyId = variables["AWS_ACCESS_KEY_ID"];
  const secretAccessKey = variables["AWS_SECRET_ACCESS_KEY"];
  const sessionToken = variables["AWS_SESSION_TOKEN"];
  if (!accessKeyId || !secretAccessKey) {
    throw new Error(
      "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY are not set: Lambda sets them from the function's role; a local run takes any value.",
    );
  }
  return { accessKeyId, secretAccessKey, ...(sessionToken && { sessionToken }) };
}

function required(variables: Variables, name: string): string {
  const value = variables[name];
  if (!value) throw new Error(`${name} is not set: the function cannot start without it.`);
  return value;
}
function readStripeKey(variables: Variables): Environment["stripeKey"] {
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

function readStripeMode(mode: string | undefined): { stripeMode?: StripeMode } {
  if (!mode) return {};
  if (mode === "live" || mode === "test") return { stripeMode: mode };
  throw new Error("STRIPE_MODE must be live or test, the mode of the Stripe key.");
}

function readBatchSize(value: string): number {
  const size = /^\d{1,3}$/.test(value) ? Number(value) : 0;
  if (size >= 1 && size <= MAX_BATCH_SIZE) return size;
  throw new Error(
    `BATCH_SIZE must be a number from 1 to ${MAX_BATCH_SIZE}, as in the event source.`,
  );
}

function readTimings(variables: Variables): WorkerTimings {
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
