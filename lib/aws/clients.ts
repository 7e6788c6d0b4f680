// AWS clients with the function's own credentials and hard timeouts. A `requestTimeout` alone only
// logs a warning.

import type { Agent } from "node:https";

import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { SecretsManagerClient } from "@aws-sdk/client-secrets-manager";
import { SQSClient } from "@aws-sdk/client-sqs";
import { DynamoDBDocumentClient } from "@aws-sdk/lib-dynamodb";

import type { WorkerTimings } from "../timing/timing.ts";

type Options = { endpoint?: string | undefined; httpsAgent?: Agent };

/** Three tries within `callTimeoutMs`; the caller's abort signal bounds them all together. */
function settings({ callTimeoutMs }: WorkerTimings, { endpoint, httpsAgent }: Options) {
  const requestTimeout = Math.ceil(callTimeoutMs / 3);
  return {
    credentials: credentials(process.env),
    ...(endpoint !== undefined && { endpoint }),
    maxAttempts: 3,
    requestHandler: {
      connectionTimeout: requestTimeout,
      requestTimeout,
      throwOnRequestTimeout: true,
      ...(httpsAgent && { httpsAgent }),
    },
  };
}

/**
 * What Lambda hands over from the function's role: valid for longer than the process lives, so
 * there is nothing to refresh, and the SDK's chain of providers stays out of the bundle.
 * https://docs.aws.amazon.com/lambda/latest/dg/configuration-envvars.html#configuration-envvars-runtime
 *
 * @throws Error when they are missing, at the cold start
 */
function credentials(variables: Record<string, string | undefined>) {
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

export function dynamoDb(timings: WorkerTimings, options: Options = {}): DynamoDBDocumentClient {
  return DynamoDBDocumentClient.from(new DynamoDBClient(settings(timings, options)), {
    marshallOptions: { removeUndefinedValues: true },
  });
}

/** Where the SDK finds DynamoDB: in the client's region, or where the environment says. */
export async function addressOf({ config }: DynamoDBDocumentClient): Promise<URL> {
  const named = process.env["AWS_ENDPOINT_URL_DYNAMODB"] ?? process.env["AWS_ENDPOINT_URL"];
  return named ? new URL(named) : config.endpointProvider({ Region: await config.region() }).url;
}

export function sqs(timings: WorkerTimings, options: Options = {}): SQSClient {
  return new SQSClient(settings(timings, options));
}

export function secretsManager(timings: WorkerTimings): SecretsManagerClient {
  return new SecretsManagerClient(settings(timings, {}));
}
