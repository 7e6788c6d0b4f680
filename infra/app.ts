// The CDK app: one stack per stage.

import { App, Tags, Validations } from "aws-cdk-lib";
import { AwsSolutionsChecks } from "cdk-nag";

import { PaymentServiceStack } from "./payment-service-stack.ts";
import { dev, prod } from "./stages.ts";

const app = new App();
for (const stage of [dev, prod]) {
  const stack = new PaymentServiceStack(app, `PaymentWorker-${stage.name}`, stage);
  Tags.of(stack).add("service", "payment-worker");
  Tags.of(stack).add("stage", stage.name);
}
// Synthesis fails on a finding that is not acknowledged with a reason.
Validations.of(app).addPlugins(new AwsSolutionsChecks(app));
