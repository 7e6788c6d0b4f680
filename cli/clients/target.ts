// Finds the target of a command: a deployed stack, single resources, or the running local stack.
import { readFileSync } from "node:fs";

import { findRunningStack } from "../../scripts/running-stack.ts";
import type { RunningStack } from "../../scripts/running-stack.ts";
import { queueUrl, text } from "../terminal/arguments.ts";
import { UsageError } from "../terminal/command.ts";

/** Each resource, with the flag and the stack output that name it. */
const RESOURCES = {
  queueUrl: { flag: "queue-url", output: "QueueUrl" },
  dlqUrl: { flag: "dlq-url", output: "DlqUrl" },
  tableName: { flag: "table", output: "TableName" },
  secretArn: { flag: "secret-arn", output: "SecretArn" },
  logGroup: { flag: "log-group", output: "LogGroupName" },
  eventBus: { flag: "event-bus", output: "EventBusName" },
  eventSource: { flag: "event-source", output: "EventSource" },
  ordersTable: { flag: "orders-table", output: "OrdersTableName" },
} as const;

type Resource = keyof typeof RESOURCES;

/** The options of every command that has a target; `payments --help` explains them. */
export const TARGET_OPTIONS = {
  stack: text("NAME", ""),
  outputs: text("FILE", ""),
  "queue-url": queueUrl("URL", ""),
  "dlq-url": queueUrl("URL", ""),
  table: text("NAME", ""),
  "secret-arn": text("ARN", ""),
  "log-group": text("NAME", ""),
  "event-bus": text("NAME", ""),
  "event-source": text("URN", ""),
  "orders-table": text("NAME", ""),
};

type Flags = { [Option in keyof typeof TARGET_OPTIONS]?: string | undefined };

export type Target = {
  /** As sentences name it: "the local stack". */
  name: string;
  resources: Partial<Record<Resource, string>>;
  /** The deployed stack, when the flags name one. */
  stackName?: string;
  /** The local stack, when it is the target. */
  local: RunningStack | undefined;
};

/**
 * What the flags name, else the running local stack.
 *
 * @throws UsageError when there is neither, or a stack or a file of outputs cannot be read
 */
export async function findTarget(flags: Flags): Promise<Target> {
  const named: Target["resources"] = {};
  for (const [resource, { flag }] of Object.entries(RESOURCES)) {
    if (flags[flag] !== undefined) named[resource as Resource] = flags[flag];
  }
  if (flags.stack !== undefined && flags.outputs === undefined) {
    const outputs = await stackOutputs(flags.stack);
    return { ...deployed(flags.stack), resources: { ...outputs, ...named } };
  }
  if (flags.outputs !== undefined) {
    const { name, outputs } = fileOutputs(flags.outputs, flags.stack);
    return { ...deployed(name), resources: { ...outputs, ...named } };
  }
  // Flags are never completed from the local stack: a table from here and a queue from there would
  // pass for one system.
  if (Object.keys(named).length > 0) {
    return { name: "the named resources", resources: named, local: undefined };
  }
  const local = findRunningStack();
  if (!local) {
    throw new UsageError(
      "No local stack is running: start one with `npm start` in another terminal, or name a deployed one with --stack or --outputs.",
    );
  }
  const { queueUrl, dlqUrl, tableName, env } = local;
  const resources = {
    queueUrl,
    dlqUrl,
    tableName,
    eventSource: `urn:payment-worker:${env["STAGE"] || "local"}`,
    ...(env["EVENT_BUS_NAME"] && { eventBus: env["EVENT_BUS_NAME"] }),
    ...(env["ORDERS_TABLE"] && { ordersTable: env["ORDERS_TABLE"] }),
  };
  return { name: "the local stack", resources, local };
}

const deployed = (stack: string) => ({ name: stack, stackName: stack, local: undefined });

/** @throws UsageError when the target does not have it, with the flag that names it */
export function need({ name, resources }: Target, resource: Resource): string {
  const value = resources[resource];
  if (value) return value;
  const { flag, output } = RESOURCES[resource];
  throw new UsageError(
    `This needs --${flag}: ${name === "the named resources" ? "the other flags do not say" : `${name} has no output ${output}`}.`,
  );
}

async function stackOutputs(stack: string): Promise<Target["resources"]> {
  // Loaded here: most commands do without it.
  const { CloudFormationClient, DescribeStacksCommand } =
    await import("@aws-sdk/client-cloudformation");
  const client = new CloudFormationClient({});
  try {
    const { Stacks = [] } = await client.send(new DescribeStacksCommand({ StackName: stack }));
    const outputs = (Stacks[0]?.Outputs ?? []).map(({ OutputKey, OutputValue }) => [
      OutputKey,
      OutputValue,
    ]);
    return resourcesIn(Object.fromEntries(outputs) as Record<string, string>);
  } catch (error) {
    if ((error as Error).name !== "ValidationError") throw error;
    throw new UsageError(
      `There is no stack ${stack} in this account and region: aws cloudformation list-stacks shows them. (${(error as Error).message})`,
      { cause: error },
    );
  }
}

function fileOutputs(file: string, stack: string | undefined) {
  let stacks: Record<string, Record<string, string>>;
  try {
    stacks = JSON.parse(readFileSync(file, "utf8")) as typeof stacks;
  } catch (error) {
    throw new UsageError(
      `--outputs ${file} cannot be read: write it with \`npx cdk deploy --outputs-file ${file}\`.`,
      { cause: error },
    );
  }
  const names = Object.keys(stacks).filter((name) => stack === undefined || name === stack);
  const [name] = names;
  if (name === undefined || names.length > 1) {
    throw new UsageError(
      `--outputs ${file} holds ${Object.keys(stacks).join(", ") || "no stack"}: name the one you mean with --stack.`,
    );
  }
  return { name, outputs: resourcesIn(stacks[name] ?? {}) };
}

function resourcesIn(outputs: Record<string, string>): Target["resources"] {
  return Object.fromEntries(
    Object.entries(RESOURCES).flatMap(([resource, { output }]) =>
      outputs[output] === undefined ? [] : [[resource, outputs[output]]],
    ),
  );
}
