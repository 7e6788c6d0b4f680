// Single environment variables, each read and validated. Secret values never appear in an error; each
// is one sentence that names the variable and the rule.

import type { AwsSettings } from "../aws/clients.ts";
import type { StripeMode } from "../stripe/api-key.ts";
import { DEFAULT_WORKER_TIMINGS, workerViolations } from "../timing/payments.ts";
import type { WorkerTimings } from "../timing/payments.ts";
import { MAX_BATCH_SIZE } from "../timing/queue.ts";
import { TIMING_VARIABLES } from "../timing/variables.ts";

export type Variables = Readonly<Record<string, string | undefined>>;

/** Where the Stripe key comes from: a Secrets Manager secret, or, local and SAM only, the key. */
export type StripeKeySource = { secretArn: string } | { key: string };

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

export function required(variables: Variables, name: string): string {
  const value = variables[name];
  if (!value) throw new Error(`${name} is not set: the function cannot start without it.`);
  return value;
}
export function readStripeKey(variables: Variables): StripeKeySource {
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

export function readStripeMode(mode: string | undefined): { stripeMode?: StripeMode } {
  if (!mode) return {};
  if (mode === "live" || mode === "test") return { stripeMode: mode };
  throw new Error("STRIPE_MODE must be live or test, the mode of the Stripe key.");
}

export function readBatchSize(value: string): number {
  const size = /^\d{1,3}$/.test(value) ? Number(value) : 0;
  if (size >= 1 && size <= MAX_BATCH_SIZE) return size;
  throw new Error(
    `BATCH_SIZE must be a number from 1 to ${MAX_BATCH_SIZE}, as in the event source.`,
  );
}

export function readTimings(variables: Variables): WorkerTimings {
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

export function url(name: string, value: string): URL {
  const parsed = URL.parse(value);
  if (!parsed || !/^https?:$/.test(parsed.protocol)) {
    throw new Error(`${name} must be an http or https URL.`);
  }
  return parsed;
}
