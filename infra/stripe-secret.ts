// The secrets that Stripe's side fills: the API key, and the webhook's signing secret.

import type { RemovalPolicy } from "aws-cdk-lib";
import type * as kms from "aws-cdk-lib/aws-kms";
import * as secretsmanager from "aws-cdk-lib/aws-secretsmanager";
import type { Construct } from "constructs";

import { acknowledge } from "./acknowledge.ts";

/**
 * A secret without a value, for the Stripe key or the webhook's. It never passes through CloudFormation: an
 * operator puts it with `aws secretsmanager put-secret-value`, and no later deployment touches it.
 *
 * The L2 construct always asks for a generated value, and CloudFormation makes a new one whenever that
 * request changes, over the operator's key. Without it CloudFormation creates the secret empty:
 * https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-resource-secretsmanager-secret.html
 */
export function emptyStripeSecret(
  scope: Construct,
  id: string,
  props: { removalPolicy: RemovalPolicy; encryptionKey?: kms.IKey; description?: string },
): secretsmanager.Secret {
  const secret = new secretsmanager.Secret(scope, id, {
    description: "The Stripe API key of the payment worker, as a plain string",
    ...props,
  });
  (secret.node.defaultChild as secretsmanager.CfnSecret).generateSecretString = undefined;
  acknowledge(
    secret,
    "AwsSolutions-SMG4",
    "Stripe has no API that makes a key, so no rotation function can: docs/deploy.md says how an operator rotates it without an interruption.",
  );
  return secret;
}
