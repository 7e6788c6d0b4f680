// What a function may do: the calls that it makes and no other, on the resources that it makes them
// on. The grants of the L2 constructs allow more (twelve actions for a table), and the managed policy
// AWSLambdaBasicExecutionRole lets a function write to every log group of the account.

import { Stack } from "aws-cdk-lib";
import type * as dynamodb from "aws-cdk-lib/aws-dynamodb";
import * as iam from "aws-cdk-lib/aws-iam";
import type * as kms from "aws-cdk-lib/aws-kms";
import type * as logs from "aws-cdk-lib/aws-logs";
import type { Construct } from "constructs";

/** A secret that a function reads; any `ISecret` has these. */
export interface ReadableSecret {
  readonly secretArn: string;
  readonly secretName?: string;
  readonly encryptionKey?: kms.IKey | undefined;
}

export interface Secret {
  /** Ends the names of its statements, such as `StripeKey` in `ReadStripeKey`. */
  readonly name: string;
  /** The environment variable that carries its ARN. */
  readonly variable: string;
  readonly secret: ReadableSecret;
}

export interface ExecutionRoleProps {
  readonly title: string;
  readonly statements: readonly iam.PolicyStatement[];
  readonly secrets: readonly Secret[];
  readonly logGroup: logs.LogGroup;
  readonly encryptionKey?: kms.IKey;
  /** Whether the function's network interfaces are in a VPC. */
  readonly inVpc: boolean;
}

/**
 * DynamoDB uses the key on behalf of its caller, with what "Authorizing use of your customer managed
 * key" in its developer guide lists, less the grant that only a table's creator needs. Decrypt is all that
 * receiving from a queue and reading a secret take.
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
 * What Lambda needs to place a function in a VPC, none of which can be limited to one function's interfaces:
 * https://docs.aws.amazon.com/lambda/latest/dg/configuration-vpc.html#configuration-vpc-permissions
 */
const VPC_ACTIONS = [
  "ec2:CreateNetworkInterface",
  "ec2:DescribeNetworkInterfaces",
  "ec2:DescribeSubnets",
  "ec2:DeleteNetworkInterface",
  "ec2:AssignPrivateIpAddresses",
  "ec2:UnassignPrivateIpAddresses",
];

export function executionRole(scope: Construct, props: ExecutionRoleProps): iam.Role {
  const { title, secrets, logGroup, encryptionKey } = props;
  const calls = [
    ...props.statements,
    ...secrets.map(({ name, secret }) =>
      allow(`Read${name}`, ["secretsmanager:GetSecretValue"], secret.secretArn),
    ),
  ];
  const statements = [
    ...calls,
    allow("Log", ["logs:CreateLogStream", "logs:PutLogEvents"], logGroup.logGroupArn),
  ];
  if (encryptionKey) {
    statements.push(allowKey(scope, "UseKey", encryptionKey, servicesOf(calls)));
  }
  if (props.inVpc) statements.push(allow("UseVpc", VPC_ACTIONS, "*"));
  for (const { name, secret } of secrets) {
    if (!secret.encryptionKey || secret.encryptionKey === encryptionKey) continue;
    statements.push(allow(`Decrypt${name}`, ["kms:Decrypt"], secret.encryptionKey.keyArn));
  }
  // A policy of its own and not an inline one: auditors list those, and the role waits for it.
  const policy = new iam.ManagedPolicy(scope, "Policy", {
    description: `The calls that the ${title} makes`,
    statements,
  });
  return new iam.Role(scope, "Role", {
    description: `The ${title}`,
    assumedBy: new iam.ServicePrincipal("lambda.amazonaws.com"),
    managedPolicies: [policy],
  });
}

/** The services whose calls the statements allow, each once. */
function servicesOf(statements: readonly iam.PolicyStatement[]): string[] {
  const actions = statements.flatMap((statement) => statement.actions);
  const services = actions.map((action) => action.split(":")[0] ?? "");
  return [...new Set(services)].filter((service) => service !== "kms");
}

/** Allows the use of a key through `services`, such as `dynamodb`, and in no other way. */
export function allowKey(
  scope: Construct,
  sid: string,
  key: kms.IKey,
  services: readonly string[],
): iam.PolicyStatement {
  const { region } = Stack.of(scope);
  const statement = allow(sid, KEY_ACTIONS, key.keyArn);
  statement.addCondition("StringEquals", {
    "kms:ViaService": services.map((service) => `${service}.${region}.amazonaws.com`),
  });
  return statement;
}

/** Allows the use of a table's own key, unless it is the one that the role may use anyway. */
export function allowTableKey(
  scope: Construct,
  table: dynamodb.ITable,
  encryptionKey: kms.IKey | undefined,
): iam.PolicyStatement[] {
  const key = table.encryptionKey;
  if (!key || key === encryptionKey) return [];
  return [allowKey(scope, "UseTableKey", key, ["dynamodb"])];
}

export function allow(sid: string, actions: string[], resource: string): iam.PolicyStatement {
  return new iam.PolicyStatement({ sid, actions, resources: [resource] });
}
