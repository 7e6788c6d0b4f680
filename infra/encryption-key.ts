// The customer-managed key of what a payment worker keeps at rest, and what it must allow.

import { Annotations, Stack } from "aws-cdk-lib";
import type { RemovalPolicy } from "aws-cdk-lib";
import * as iam from "aws-cdk-lib/aws-iam";
import * as kms from "aws-cdk-lib/aws-kms";
import type { Construct } from "constructs";

/**
 * A key with yearly rotation. Any other key does as well, as long as its policy lets the account's IAM
 * policies decide, as a `kms.Key` does: see `allowLogs`. A producer needs `kms:GenerateDataKey` and
 * `kms:Decrypt` to send to the queue; `grantSend` grants them.
 */
export function encryptionKey(scope: Construct, id: string, removalPolicy: RemovalPolicy): kms.Key {
  return new kms.Key(scope, id, {
    description: "Payment worker: records, queues, Stripe key and logs",
    enableKeyRotation: true,
    removalPolicy,
  });
}

/**
 * Lets CloudWatch Logs use the key for the log groups of `scope`'s stack. Logs uses it under its own name, so
 * only the key's policy can say so: https://docs.aws.amazon.com/AmazonCloudWatch/latest/logs/encrypt-log-data-kms.html.
 * The other services use it on behalf of the function's role. Warns when the key's policy is not the app's to change.
 */
export function allowLogs(scope: Construct, key: kms.IKey): void {
  const { partition, region, account, stackName } = Stack.of(scope);
  const own = Stack.of(key) === Stack.of(scope);
  // CloudFormation begins the names that it makes with the stack's.
  const logGroups = `arn:${partition}:logs:${region}:${account}:log-group:${stackName}-*`;
  const { statementAdded } = key.addToResourcePolicy(
    new iam.PolicyStatement({
      sid: own ? "Logs" : `LogsOf${stackName.replaceAll(/\W/g, "")}`,
      principals: [new iam.ServicePrincipal(`logs.${region}.amazonaws.com`)],
      actions: [
        "kms:Encrypt",
        "kms:Decrypt",
        "kms:ReEncrypt*",
        "kms:GenerateDataKey*",
        "kms:Describe*",
      ],
      resources: ["*"], // in a key's policy: this key
      conditions: { ArnLike: { "kms:EncryptionContext:aws:logs:arn": logGroups } },
    }),
  );
  if (!statementAdded) {
    Annotations.of(scope).addWarningV2(
      "payment-worker:encryptionKey",
      `The encryption key is imported, so its policy cannot be changed here. Unless it lets logs.REGION.amazonaws.com use the key for log-group:${stackName}-*, the log group cannot be created: docs/deploy.md has the statement.`,
    );
  }
}
