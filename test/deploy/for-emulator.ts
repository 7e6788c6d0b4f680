// What the emulator on this machine needs beside the stack as it is deployed.
import { Fn } from "aws-cdk-lib";
import type { Stack } from "aws-cdk-lib";
import { CfnAlarm } from "aws-cdk-lib/aws-cloudwatch";
import { CfnArchive } from "aws-cdk-lib/aws-events";
import { ManagedPolicy, PolicyStatement } from "aws-cdk-lib/aws-iam";
import { Function as LambdaFunction } from "aws-cdk-lib/aws-lambda";

type Statement = { Sid: string; Resource: { Ref?: string; "Fn::GetAtt"?: [string, string] } };

export function adaptForEmulator(stack: Stack): void {
  for (const node of stack.node.findAll()) {
    // The functions' Stripe is a server of the suite's.
    if (node instanceof LambdaFunction) {
      node.addEnvironment("STRIPE_API_BASE", process.env["STRIPE_API_BASE"] ?? "");
    }
    if (node instanceof ManagedPolicy) addStatements(stack, node);
    if (node instanceof CfnAlarm && node.metrics !== undefined) simplify(node);
    if (node instanceof CfnArchive) node.node.scope?.node.tryRemoveChild(node.node.id); // unknown to it
  }
}

/**
 * AWS covers the batch call by the permission for the single one, and a secret's Ref is its ARN; the
 * emulator wants the batch call named, and takes Ref for the name. Everything else it decides by the
 * policy as it is.
 */
function addStatements(stack: Stack, policy: ManagedPolicy): void {
  const { Statement } = stack.resolve(policy.document) as { Statement: Statement[] };
  for (const { Sid, Resource } of Statement) {
    const attribute = Resource["Fn::GetAtt"];
    if (Sid === "Consume" && attribute) {
      policy.addStatements(
        new PolicyStatement({
          actions: ["sqs:ChangeMessageVisibilityBatch"],
          resources: [Fn.getAtt(...attribute).toString()],
        }),
      );
    }
    if (Sid.startsWith("Read") && Resource.Ref !== undefined) {
      policy.addStatements(
        new PolicyStatement({
          actions: ["secretsmanager:GetSecretValue"],
          resources: [Fn.getAtt(Resource.Ref, "Id").toString()],
        }),
      );
    }
  }
}

/** The emulator rejects alarms on formulas: a plain metric replaces each. */
function simplify(alarm: CfnAlarm): void {
  alarm.metrics = undefined;
  Object.assign(alarm, {
    namespace: "PaymentWorker",
    metricName: "Invalid",
    statistic: "Sum",
    period: 300,
  });
}
