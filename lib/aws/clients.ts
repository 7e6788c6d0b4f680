// AWS clients with the function's own credentials, hard timeouts and one signer each.

import type { Agent } from "node:https";

import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { EventBridgeClient } from "@aws-sdk/client-eventbridge";
import { SecretsManagerClient } from "@aws-sdk/client-secrets-manager";
import { SQSClient } from "@aws-sdk/client-sqs";
import { DynamoDBDocumentClient } from "@aws-sdk/lib-dynamodb";
import type { AuthScheme, RequestSigner } from "@smithy/types";

import { createRequestHandler } from "./request-handler.ts";

export type AwsSettings = {
  credentials: { accessKeyId: string; secretAccessKey: string; sessionToken?: string };
  /** One call in total, in ms. */
  callTimeoutMs: number;
  /** Another address than the one that the SDK finds. */
  endpoint?: string | undefined;
  httpsAgent?: Agent;
};

/** Three tries within `callTimeoutMs`; the caller's abort signal bounds them all together. */
function configuration({ credentials, callTimeoutMs, endpoint, httpsAgent }: AwsSettings) {
  return {
    credentials,
    ...(endpoint !== undefined && { endpoint }),
    maxAttempts: 3,
    requestHandler: createRequestHandler(Math.ceil(callTimeoutMs / 3), httpsAgent),
  };
}

/** The client, which keeps the signer that it would make for each request. */
function keepSigner<
  Client extends { config: { signer: (scheme?: AuthScheme) => Promise<RequestSigner> } },
>(client: Client): Client {
  const { signer } = client.config;
  let kept: Promise<RequestSigner> | undefined;
  client.config.signer = (scheme) => (kept ??= signer(scheme));
  return client;
}

export function createDynamoDb(settings: AwsSettings): DynamoDBDocumentClient {
  return DynamoDBDocumentClient.from(keepSigner(new DynamoDBClient(configuration(settings))), {
    marshallOptions: { removeUndefinedValues: true },
  });
}

/** Where the client's requests go. */
export async function endpointOf({ config }: DynamoDBDocumentClient): Promise<URL> {
  const given = await config.endpoint?.();
  if (!given) return config.endpointProvider({ Region: await config.region() }).url;
  const { protocol, hostname, port } = given;
  return new URL(`${protocol}//${hostname}${port ? `:${port}` : ""}`);
}

export function createSqs(settings: AwsSettings): SQSClient {
  return keepSigner(new SQSClient(configuration(settings)));
}

export function createSecretsManager(settings: AwsSettings): SecretsManagerClient {
  return keepSigner(new SecretsManagerClient(configuration(settings)));
}

export function createEventBridge(settings: AwsSettings): EventBridgeClient {
  return keepSigner(new EventBridgeClient(configuration(settings)));
}
