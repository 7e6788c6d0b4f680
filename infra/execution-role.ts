import { Stack } from "aws-cdk-lib";
import type * as dynamodb from "aws-cdk-lib/aws-dynamodb";
import * as iam from "aws-cdk-lib/aws-iam";
import type * as kms from "aws-cdk-lib/aws-kms";
import type * as logs from "aws-cdk-lib/aws-logs";
import type * as sqs from "aws-cdk-lib/aws-sqs";
import type { Construct } from "constructs";

import type { StripeSecret } from "./stripe-secret.ts";

export interface ExecutionRoleProps {
  readonly table: dynamodb.Table;
  readonly queue: sqs.IQueue;
  readonly stripeSecret: StripeSecret;
  readonly logGroup: logs.LogGroup;
  readonly encryptionKey?: kms.IKey;
}

/**
 * DynamoDB uses the key on behalf of whoever calls it, with what "Authorizing use of your customer managed
 * key" in its developer guide lists, less the grant that only a table's creator needs. Decrypt is all that
 * receiving from the queue and reading the secret take.
 */
const KEY_ACTIONS = [
  "kms:Decrypt",
  "kms:DescribeKey",
  "kms:Encrypt",
  "kms:GenerateDataKey",
  "kms:GenerateDataKeyWithoutPlaintext",
  "kms:ReEncryptFrom",
  "kms:ReEncryptTo",
];

/**
 * What the function may do: the calls that it makes and no other, on the resources that it makes them on.
 * The grants of the L2 constructs allow more (twelve actions for a table, say), and the managed policy
 * AWSLambdaBasicExecutionRole lets it write to every log group of the account.
 */
export function executionRole(scope: Construct, props: ExecutionRoleProps): iam.Role {
  const statements = [
    allow("Claim", ["dynamodb:PutItem", "dynamodb:UpdateItem"], props.table.tableArn),
    allow(
      "Consume", // the event source polls with the function's role
      [
        "sqs:ReceiveMessage",
        "sqs:DeleteMessage",
        "sqs:GetQueueAttributes",
        "sqs:ChangeMessageVisibility",
      ],
      props.queue.queueArn,
    ),
    allow("ReadStripeKey", ["secretsmanager:GetSecretValue"], props.stripeSecret.secretArn),
    allow("Log", ["logs:CreateLogStream", "logs:PutLogEvents"], props.logGroup.logGroupArn),
  ];
  if (props.encryptionKey) {
    const { region } = Stack.of(scope);
    const useKey = allow("UseKey", KEY_ACTIONS, props.encryptionKey.keyArn);
    useKey.addCondition("StringEquals", {
      "kms:ViaService": ["dynamodb", "sqs", "secretsmanager"].map(
        (service) => `${service}.${region}.amazonaws.com`,
      ),
    });
    statements.push(useKey);
  }
  const secretKey = props.stripeSecret.encryptionKey;
  if (secretKey && secretKey !== props.encryptionKey) {
    statements.push(allow("DecryptStripeKey", ["kms:Decrypt"], secretKey.keyArn));
  }
  // A policy of its own and not an inline one: auditors list those, and the role waits for it.
  const policy = new iam.ManagedPolicy(scope, "Policy", {
    description: "The calls that the payment worker makes",
    statements,
  });
  return new iam.Role(scope, "Role", {
    description: "The payment worker",
    assumedBy: new iam.ServicePrincipal("lambda.amazonaws.com"),
    managedPolicies: [policy],
  });
}

function allow(sid: string, actions: string[], resource: string): iam.PolicyStatement {
  return new iam.PolicyStatement({ sid, actions, resources: [resource] });
}
