// Tells the people on call when what the worker cannot do without is about to be deleted.

import { Rule } from "aws-cdk-lib/aws-events";
import { SnsTopic } from "aws-cdk-lib/aws-events-targets";
import type * as kms from "aws-cdk-lib/aws-kms";
import type * as sns from "aws-cdk-lib/aws-sns";
import type { Construct } from "constructs";

import type { ReadableSecret } from "./execution-role.ts";

/**
 * Both are recoverable for days after the call, and nothing fails for as long as a key or a secret is
 * cached. CloudTrail has to log management events in the region.
 * https://docs.aws.amazon.com/secretsmanager/latest/userguide/monitoring-eventbridge.html
 */
export function watchDeletion(
  scope: Construct,
  topic: sns.ITopic,
  { secret, key }: { secret: ReadableSecret; key: kms.IKey | undefined },
): void {
  const rule = (id: string, source: string, detail: Record<string, unknown>) =>
    new Rule(scope, id, {
      eventPattern: { source: [source], detailType: ["AWS API Call via CloudTrail"], detail },
      targets: [new SnsTopic(topic)],
    });
  rule("SecretDeletion", "aws.secretsmanager", {
    eventName: ["DeleteSecret"],
    // As the caller named it.
    requestParameters: {
      secretId: [secret.secretArn, ...(secret.secretName ? [secret.secretName] : [])],
    },
  });
  if (!key) return;
  rule("KeyDeletion", "aws.kms", {
    eventName: ["ScheduleKeyDeletion", "DisableKey"],
    requestParameters: { keyId: [{ suffix: key.keyId }] }, // an id, or an ARN that ends with it
  });
}
