// Where Lambda puts the changes that it gave up on, each with all that the stream said.

import { Duration, Stack } from "aws-cdk-lib";
import type { RemovalPolicy } from "aws-cdk-lib";
import type * as kms from "aws-cdk-lib/aws-kms";
import * as s3 from "aws-cdk-lib/aws-s3";
import type { Construct } from "constructs";

import { acknowledge } from "./acknowledge.ts";

export function failureBucket(
  scope: Construct,
  id: string,
  props: { removalPolicy: RemovalPolicy; encryptionKey?: kms.IKey },
): s3.Bucket {
  const { removalPolicy, encryptionKey } = props;
  const bucket = new s3.Bucket(scope, id, {
    blockPublicAccess: s3.BlockPublicAccess.BLOCK_ALL,
    objectOwnership: s3.ObjectOwnership.BUCKET_OWNER_ENFORCED,
    enforceSSL: true,
    minimumTLSVersion: 1.2,
    removalPolicy,
    lifecycleRules: [
      // The records expire after 35 days, and can be published again until then.
      { expiration: Duration.days(35), abortIncompleteMultipartUploadAfter: Duration.days(1) },
    ],
    ...(encryptionKey
      ? { encryption: s3.BucketEncryption.KMS, encryptionKey, bucketKeyEnabled: true }
      : { encryption: s3.BucketEncryption.S3_MANAGED }),
  });
  acknowledge(
    bucket,
    "AwsSolutions-S1",
    "Only Lambda writes here, only when a change could not be published, and an alarm fires then. A log of its accesses would need a bucket of its own.",
  );
  const logicalId = Stack.of(scope).getLogicalId(bucket.node.defaultChild as s3.CfnBucket);
  acknowledge(
    scope,
    `AwsSolutions-IAM5[Resource::<${logicalId}.Arn>/*]`,
    "Lambda chooses the names of what it puts into the bucket, and nothing else is in there.",
  );
  return bucket;
}
