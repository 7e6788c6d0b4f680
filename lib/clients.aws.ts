// AWS clients with hard timeouts. A `requestTimeout` alone only logs a warning.

import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { SecretsManagerClient } from "@aws-sdk/client-secrets-manager";
import { SQSClient } from "@aws-sdk/client-sqs";
import { DynamoDBDocumentClient } from "@aws-sdk/lib-dynamodb";

import type { WorkerTimings } from "./timing.ts";

/** Three tries within `callTimeoutMs`; the caller's abort signal bounds them all together. */
function settings({ callTimeoutMs }: WorkerTimings) {
  const requestTimeout = Math.ceil(callTimeoutMs / 3);
  return {
    maxAttempts: 3,
    requestHandler: {
      connectionTimeout: requestTimeout,
      requestTimeout,
      throwOnRequestTimeout: true,
    },
  };
}

export function dynamoDb(timings: WorkerTimings): DynamoDBDocumentClient {
  return DynamoDBDocumentClient.from(new DynamoDBClient(settings(timings)), {
    marshallOptions: { removeUndefinedValues: true },
  });
}

export function sqs(timings: WorkerTimings): SQSClient {
  return new SQSClient(settings(timings));
}

export function secretsManager(timings: WorkerTimings): SecretsManagerClient {
  return new SecretsManagerClient(settings(timings));
}
