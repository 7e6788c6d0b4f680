import { App, Tags } from "aws-cdk-lib";
import { PaymentWorkerStack } from "./payment-worker-stack.ts";
import { dev, prod } from "./stages.ts";

const app = new App();
for (const stage of [dev, prod]) {
  const stack = new PaymentWorkerStack(app, `PaymentWorker-${stage.name}`, stage);
  Tags.of(stack).add("service", "payment-worker");
  Tags.of(stack).add("stage", stage.name);
}
