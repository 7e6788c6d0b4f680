// The clients that reach a target: AWS by the SDK's own settings, the local stack by its endpoints.
import { CloudWatchLogsClient } from "@aws-sdk/client-cloudwatch-logs";
import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { SecretsManagerClient } from "@aws-sdk/client-secrets-manager";
import { SQSClient } from "@aws-sdk/client-sqs";
import { DynamoDBDocumentClient } from "@aws-sdk/lib-dynamodb";
import { Stripe } from "stripe";
import { readEnvironment } from "../../lib/environment.ts";
import { fixedKey, secretKeys } from "../../lib/stripe-key.secretsmanager.ts";
import { DEFAULT_WORKER_TIMINGS, type WorkerTimings } from "../../lib/timing.ts";
import { UsageError } from "../command.ts";
import { need, type Target } from "./target.ts";

const LOCAL = {
  region: "us-east-1",
  credentials: { accessKeyId: "local", secretAccessKey: "local" },
};

/** For a queue in AWS, its URL gives the region; any other URL is its own endpoint. */
export function sqsFor(queueUrl: string): SQSClient {
  const url = URL.parse(queueUrl);
  if (!url) throw new UsageError(`--queue-url must be a URL, as in the stack's QueueUrl output.`);
  const region = awsRegion(url);
  if (region !== undefined) return new SQSClient({ region });
  return new SQSClient({ endpoint: url.origin, ...LOCAL });
}

/** Whether the queue is on this machine, where no message costs anybody anything. */
export function isLocal(queueUrl: string): boolean {
  return ["127.0.0.1", "localhost", "[::1]"].includes(URL.parse(queueUrl)?.hostname ?? "");
}

function awsRegion({ hostname }: URL): string | undefined {
  return /^(?:sqs\.)?([a-z]{2}(?:-[a-z]+)+-\d)\.(?:queue\.)?amazonaws\./.exec(hostname)?.[1];
}

/** The table's client, in the region that the target's queue or secret names. */
export function tableFor(target: Target): DynamoDBDocumentClient {
  const { local } = target;
  const client = local
    ? new DynamoDBClient({ endpoint: local.endpoints.table, ...LOCAL })
    : new DynamoDBClient(regionOf(target));
  return DynamoDBDocumentClient.from(client, {
    marshallOptions: { removeUndefinedValues: true },
  });
}

export function logsFor(target: Target): CloudWatchLogsClient {
  return new CloudWatchLogsClient(regionOf(target));
}

function regionOf({ resources }: Target): { region?: string } {
  const queue = URL.parse(resources.queueUrl ?? resources.dlqUrl ?? "");
  const region = (queue && awsRegion(queue)) ?? resources.secretArn?.split(":")[3];
  return region ? { region } : {};
}

export type StripeAccess = {
  stripe: Stripe;
  /** Where a person sees a PaymentIntent. */
  link: (paymentIntentId: string) => string;
};

/**
 * Stripe, with the key of the local stack, else `STRIPE_API_KEY`, else the one in the secret. `retries`
 * is how often a call is repeated that Stripe did not answer: calls only read, so that harms nobody.
 *
 * @throws UsageError when the target names no secret
 */
export async function stripeFor(target: Target, retries: number): Promise<StripeAccess> {
  const environment = { ...process.env, ...target.local?.env };
  const base = URL.parse(environment["STRIPE_API_BASE"] ?? "");
  const given = environment["STRIPE_API_KEY"];
  const key = given
    ? await fixedKey(given).get()
    : await secretKeys(
        new SecretsManagerClient(regionOf(target)),
        need(target, "secretArn"),
        10_000,
        Date.now,
      ).get();
  const stripe = new Stripe(key, {
    maxNetworkRetries: retries,
    timeout: 20_000,
    telemetry: false,
    ...(base && {
      protocol: base.protocol === "https:" ? "https" : "http",
      host: base.hostname,
      port: base.port,
    }),
  });
  return { stripe, link: linkTo(key, base) };
}

/** Where a person sees a PaymentIntent; `key` tells test from live. */
export function linkTo(key: string | undefined, base: URL | null): (id: string) => string {
  if (base) return (id) => `${base.origin}/v1/payment_intents/${id}`;
  const mode = key && /^[rs]k_test_/.test(key) ? "test/" : "";
  return (id) => `https://dashboard.stripe.com/${mode}payments/${id}`;
}

/** The link without a key at hand. */
export function linkFor(target: Target): (id: string) => string {
  const environment = { ...process.env, ...target.local?.env };
  return linkTo(environment["STRIPE_API_KEY"], URL.parse(environment["STRIPE_API_BASE"] ?? ""));
}

/** The timings that the worker runs with: the local stack's, else the defaults that are deployed. */
export function timingsFor({ local }: Target): WorkerTimings {
  return local ? readEnvironment(local.env).timings : DEFAULT_WORKER_TIMINGS;
}
