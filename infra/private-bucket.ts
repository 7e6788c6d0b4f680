// A bucket that only functions of this service write to: encrypted, over TLS alone, never public, and
// emptied by time.

import { Duration, Stack } from "aws-cdk-lib";
import type { RemovalPolicy } from "aws-cdk-lib";
import type * as kms from "aws-cdk-lib/aws-kms";
import * as s3 from "aws-cdk-lib/aws-s3";
import type { Construct } from "constructs";

import { acknowledge } from "./acknowledge.ts";

export interface PrivateBucketProps {
  readonly removalPolicy: RemovalPolicy;
  readonly encryptionKey?: kms.IKey;
  readonly expireAfter: Duration;
  /** Why nobody needs a log of its accesses, which would need a bucket of its own. */
  readonly noAccessLog: string;
  /** What its only writer may write, such as `*`, and why the names are not known. */
  readonly writes: { readonly keys: string; readonly because: string };
}

export function privateBucket(scope: Construct, id: string, props: PrivateBucketProps): s3.Bucket {
  const { removalPolicy, encryptionKey, expireAfter, noAccessLog, writes } = props;
  const bucket = new s3.Bucket(scope, id, {
    blockPublicAccess: s3.BlockPublicAccess.BLOCK_ALL,
    objectOwnership: s3.ObjectOwnership.BUCKET_OWNER_ENFORCED,
    enforceSSL: true,
    minimumTLSVersion: 1.2,
    removalPolicy,
    lifecycleRules: [
      { expiration: expireAfter, abortIncompleteMultipartUploadAfter: Duration.days(1) },
    ],
    ...(encryptionKey
      ? { encryption: s3.BucketEncryption.KMS, encryptionKey, bucketKeyEnabled: true }
      : { encryption: s3.BucketEncryption.S3_MANAGED }),
  });
  acknowledge(
    bucket,
    "AwsSolutions-S1",
    `${noAccessLog} A log of its accesses would need a bucket of its own.`,
  );
  const logicalId = Stack.of(scope).getLogicalId(bucket.node.defaultChild as s3.CfnBucket);
  acknowledge(
    scope,
    `AwsSolutions-IAM5[Resource::<${logicalId}.Arn>/${writes.keys}]`,
    writes.because,
  );
  return bucket;
}
