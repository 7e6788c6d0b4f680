// A customer-managed key that fits everything the payment worker keeps at rest.

import { Stack } from "aws-cdk-lib";
import type { RemovalPolicy } from "aws-cdk-lib";
import * as iam from "aws-cdk-lib/aws-iam";
import * as kms from "aws-cdk-lib/aws-kms";
import type { Construct } from "constructs";

/**
 * A customer-managed key for everything that a payment worker keeps at rest, with yearly rotation.
 *
 * CloudWatch Logs uses the key under its own name, so the key's policy lets it, for the log groups of this
 * stack: https://docs.aws.amazon.com/AmazonCloudWatch/latest/logs/encrypt-log-data-kms.html. The other
 * services use it on behalf of the function's role. A producer needs `kms:GenerateDataKey` and
 * `kms:Decrypt` to send to the queue.
 */
export function encryptionKey(scope: Construct, id: string, removalPolicy: RemovalPolicy): kms.Key {
  const key = new kms.Key(scope, id, {
    description: "Payment worker: records, queues, Stripe key and logs",
    enableKeyRotation: true,
    removalPolicy,
  });
  const { partition, region, account, stackName } = Stack.of(scope);
  key.addToResourcePolicy(
    new iam.PolicyStatement({
      sid: "Logs",
      principals: [new iam.ServicePrincipal(`logs.${region}.amazonaws.com`)],
      actions: [
        "kms:Encrypt",
        "kms:Decrypt",
        "kms:ReEncrypt*",
        "kms:GenerateDataKey*",
        "kms:Describe*",
      ],
      resources: ["*"], // in a key's policy: this key
      conditions: {
        ArnLike: {
          // CloudFormation begins the names that it makes with the stack's.
          "kms:EncryptionContext:aws:logs:arn": `arn:${partition}:logs:${region}:${account}:log-group:${stackName}-*`,
        },
      },
    }),
  );
  return key;
}
