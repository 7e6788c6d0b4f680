import { expect, test } from "vitest";

import { containerVariables, samTemplate } from "../../scripts/sam/files.ts";
import { propertiesOf, templateOf } from "../infra/synth.ts";

const LOCAL = {
  AWS_LAMBDA_FUNCTION_NAME: "payment-worker",
  AWS_ENDPOINT_URL_DYNAMODB: "http://127.0.0.1:4001",
  AWS_ENDPOINT_URL_SQS: "http://127.0.0.1:4002",
  QUEUE_URL: "http://127.0.0.1:4002/000000000000/payments",
  RECORDS_TABLE: "payment-records",
  STRIPE_API_BASE: "http://127.0.0.1:4003",
  STRIPE_TIMEOUT_SECONDS: "1",
};

test("a container has this machine's endpoints, by the name that Docker gives it, and the deployment's timings but for the age of a message", () => {
  expect(containerVariables(LOCAL)).toMatchObject({
    AWS_ENDPOINT_URL_DYNAMODB: "http://host.docker.internal:4001",
    AWS_ENDPOINT_URL_SQS: "http://host.docker.internal:4002",
    QUEUE_URL: "http://host.docker.internal:4002/000000000000/payments",
    RECORDS_TABLE: "payment-records",
    STRIPE_API_BASE: "http://host.docker.internal:4003",
    STRIPE_TIMEOUT_SECONDS: "20",
    MAX_MESSAGE_AGE_SECONDS: "864000000",
    RECORD_TTL_SECONDS: "950400000",
  });
});

test("SAM runs the function as it is deployed, on the machine's processor, with every variable declared", () => {
  const [deployed] = propertiesOf(templateOf(), "AWS::Lambda::Function");
  const { Resources } = samTemplate("x86_64", { STRIPE_API_BASE: "http://x", QUEUE_URL: "y" }) as {
    Resources: { PaymentWorker: { Properties: Record<string, unknown> } };
  };

  const { Handler, Runtime, MemorySize, Timeout } = deployed ?? {};
  expect(Resources.PaymentWorker.Properties).toMatchObject({
    Handler,
    Runtime,
    MemorySize,
    Timeout,
    Architectures: ["x86_64"],
    Environment: { Variables: { STRIPE_API_BASE: "", QUEUE_URL: "" } },
  });
  expect(Handler).toBe("init.handler");
});
