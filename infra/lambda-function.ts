// One Lambda function of this project: its bundle, its log group, and a role that allows exactly the
// calls it makes.

import { existsSync } from "node:fs";
import { join } from "node:path";

import type { Duration, RemovalPolicy } from "aws-cdk-lib";
import type * as ec2 from "aws-cdk-lib/aws-ec2";
import type * as iam from "aws-cdk-lib/aws-iam";
import type * as kms from "aws-cdk-lib/aws-kms";
import * as lambda from "aws-cdk-lib/aws-lambda";
import * as logs from "aws-cdk-lib/aws-logs";
import type { Construct } from "constructs";

import { allowLogs } from "./encryption-key.ts";
import { executionRole } from "./execution-role.ts";
import type { Secret } from "./execution-role.ts";

export interface FunctionProps {
  /** Names the entry in functions/ and its bundle in dist/. */
  readonly bundle: string;
  readonly description: string;
  /** What its role and its policy are described as, such as "payment worker". */
  readonly title: string;
  readonly environment: Record<string, string>;
  /** What it may do beside writing its log, reading its secrets and using the key. */
  readonly statements: readonly iam.PolicyStatement[];
  readonly secrets?: readonly Secret[];
  readonly timeout: Duration;
  /** In MB, default 512. Lambda gives CPU in proportion. */
  readonly memorySize?: number;
  readonly reservedConcurrency?: number;
  /** Default: six months, for a payment may be disputed for up to 120 days. */
  readonly logRetention?: logs.RetentionDays;
  readonly network?: Network;
  /** Whether the log outlives the stack. */
  readonly removalPolicy: RemovalPolicy;
  /** Encrypts the log, and may be used through the services that the statements name. */
  readonly encryptionKey?: kms.IKey;
}

/** Where a function's network interfaces are. Its subnets need a way to Stripe, such as a NAT gateway. */
export interface Network {
  readonly vpc: ec2.IVpc;
  /** Default: private subnets with egress. */
  readonly vpcSubnets?: ec2.SubnetSelection;
  /** Default: a new one that allows all outbound traffic and no inbound. */
  readonly securityGroups?: ec2.ISecurityGroup[];
}

export interface LambdaFunction {
  readonly function: lambda.Function;
  readonly logGroup: logs.LogGroup;
  readonly role: iam.Role;
}

/**
 * For a function that mostly waits for Stripe, in MB: its waiting costs half as much as with 512, and a batch
 * takes 3 % longer. A cold start takes a third of a second longer, which no client waits for. A worker with
 * batches of 8 holds 140 MB, and 151 MB when each body is 0.7 MB.
 */
export const WAITING_MB = 256;

const DIST = join(import.meta.dirname, "..", "dist");

/** Adds `Logs`, `Policy`, `Role` and `Function` to `scope`, which is the function's own construct. */
export function lambdaFunction(scope: Construct, props: FunctionProps): LambdaFunction {
  const { bundle, description, reservedConcurrency, secrets = [] } = props;
  if (props.encryptionKey) allowLogs(scope, props.encryptionKey);
  const logGroup = new logs.LogGroup(scope, "Logs", {
    retention: props.logRetention ?? logs.RetentionDays.SIX_MONTHS,
    removalPolicy: props.removalPolicy,
    ...(props.encryptionKey && { encryptionKey: props.encryptionKey }),
  });
  const role = executionRole(scope, {
    ...props,
    secrets,
    logGroup,
    inVpc: props.network !== undefined,
  });
  const folder = join(DIST, bundle);
  if (!existsSync(join(folder, "index.js"))) {
    throw new Error(`${folder} holds no index.js: run \`npm run build\` before synthesis.`);
  }
  const handler = new lambda.Function(scope, "Function", {
    description,
    runtime: lambda.Runtime.NODEJS_24_X,
    architecture: lambda.Architecture.ARM_64,
    // init.mjs is there when the function warms up: see scripts/build.ts.
    handler: existsSync(join(folder, "init.mjs")) ? "init.handler" : "index.handler",
    code: lambda.Code.fromAsset(folder),
    role,
    memorySize: props.memorySize ?? 512,
    timeout: props.timeout,
    ...(reservedConcurrency !== undefined && { reservedConcurrentExecutions: reservedConcurrency }),
    loggingFormat: lambda.LoggingFormat.JSON,
    // Of Lambda's own lines those of failures alone: a start and a report of each invocation, 450 bytes,
    // would be half of the log at a few payments a second, and no command, alarm or query reads them.
    // https://docs.aws.amazon.com/lambda/latest/dg/monitoring-cloudwatchlogs-log-level.html (event mapping)
    systemLogLevelV2: lambda.SystemLogLevel.WARN,
    logGroup,
    ...props.network,
    environment: {
      ...props.environment,
      ...Object.fromEntries(secrets.map(({ variable, secret }) => [variable, secret.secretArn])),
    },
  });
  return { function: handler, logGroup, role };
}
