// S3's client, apart from the others: only the reconciliation loads it.

import { S3Client } from "@aws-sdk/client-s3";

import type { AwsSettings } from "./clients.ts";

/** Three tries within `callTimeoutMs`, with the SDK's own handler: S3's bodies are streams. */
export function createS3({ credentials, callTimeoutMs, endpoint }: AwsSettings): S3Client {
  const requestTimeout = Math.ceil(callTimeoutMs / 3);
  return new S3Client({
    credentials,
    ...(endpoint !== undefined && { endpoint }),
    maxAttempts: 3,
    requestHandler: {
      connectionTimeout: requestTimeout,
      requestTimeout,
      throwOnRequestTimeout: true,
    },
  });
}
