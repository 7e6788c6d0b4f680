// A finding of cdk-nag with the reason why it stays.

import * as cdk from "aws-cdk-lib";
import type { IConstruct } from "constructs";

/** `undefined` in a CDK that is older than it: another app that uses these constructs may have one. */
const Validations = cdk.Validations as typeof cdk.Validations | undefined;

export function acknowledge(construct: IConstruct, id: string, reason: string): void {
  Validations?.of(construct).acknowledge({ id, reason });
}
