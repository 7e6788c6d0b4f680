import { writeFileSync } from "node:fs";
import { join } from "node:path";

import { CloudFormationClient, DescribeStacksCommand } from "@aws-sdk/client-cloudformation";
import { mockClient } from "aws-sdk-client-mock";
import { expect, test } from "vitest";

import { isLocal, sqsFor } from "../../cli/clients/clients.ts";
import { findTarget, need } from "../../cli/clients/target.ts";
import { linkTo } from "../../cli/explain/payment-intent-link.ts";
import { startOperator } from "./operator.ts";

const OUTPUTS = {
  QueueUrl: "https://sqs.eu-west-1.amazonaws.com/123456789012/payments",
  DlqUrl: "https://sqs.eu-west-1.amazonaws.com/123456789012/payments-dlq",
  TableName: "records",
  SecretArn: "arn:aws:secretsmanager:eu-west-1:123456789012:secret:stripe",
  LogGroupName: "/worker",
  FunctionName: "worker",
};

test("a stack's outputs say where everything is, and a flag takes the place of one", async () => {
  mockClient(CloudFormationClient)
    .on(DescribeStacksCommand, { StackName: "PaymentWorker-prod" })
    .resolves({
      Stacks: [
        {
          StackName: "PaymentWorker-prod",
          CreationTime: new Date(0),
          StackStatus: "CREATE_COMPLETE",
          Outputs: Object.entries(OUTPUTS).map(([OutputKey, OutputValue]) => ({
            OutputKey,
            OutputValue,
          })),
        },
      ],
    });

  const target = await findTarget({ stack: "PaymentWorker-prod", table: "another" });

  expect(target).toEqual({
    name: "PaymentWorker-prod",
    stackName: "PaymentWorker-prod",
    resources: {
      queueUrl: OUTPUTS.QueueUrl,
      dlqUrl: OUTPUTS.DlqUrl,
      tableName: "another",
      secretArn: OUTPUTS.SecretArn,
      logGroup: "/worker",
    },
    local: undefined,
  });
});

test("a stack that is not there is an error that says where to look", async () => {
  mockClient(CloudFormationClient)
    .on(DescribeStacksCommand)
    .rejects(
      Object.assign(new Error("Stack with id x does not exist"), { name: "ValidationError" }),
    );

  await expect(findTarget({ stack: "x" })).rejects.toThrow("There is no stack x in this account");
});

test("a file of outputs is read as cdk deploy writes it, one of its stacks is named, and a queue that is not on this machine is asked about", async () => {
  const operator = await startOperator();
  const { folder, stack } = operator;
  const { queueUrl: QueueUrl, dlqUrl: DlqUrl } = stack.queues;
  const outputs = { dev: { QueueUrl, DlqUrl, TableName: "records" }, prod: OUTPUTS };
  writeFileSync(join(folder, "outputs.json"), JSON.stringify(outputs));

  const unnamed = await operator.payments("send", "--outputs", "outputs.json");
  const sent = await operator.payments("send", "--outputs", "outputs.json", "--stack", "dev");
  const abroad = await operator.payments("send", "--outputs", "outputs.json", "--stack", "prod");

  expect(unnamed).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("dev, prod") as string,
  });
  expect(sent).toMatchObject({ code: 0, stdout: expect.stringContaining(QueueUrl) as string });
  expect(abroad.code).toBe(2);
  expect(abroad.stderr).toMatch(
    /^Send 1 message \(1250 eur each\) to https:.+, to be charged\? There is no/,
  );
});

test("an output that a stack lacks is named with the flag that helps", () => {
  const target = { name: "old", resources: {}, local: undefined };

  expect(() => need(target, "logGroup")).toThrow(
    "This needs --log-group: old has no output LogGroupName.",
  );
});

test.each([
  [OUTPUTS.QueueUrl, "eu-west-1"],
  ["https://sqs.us-gov-west-1.amazonaws.com/1/q", "us-gov-west-1"],
  ["https://sqs.cn-north-1.amazonaws.com.cn/1/q", "cn-north-1"],
  ["https://us-west-2.queue.amazonaws.com/1/q", "us-west-2"],
  ["http://127.0.0.1:4566/1/q", "us-east-1"],
])("the client for %s works in %s", async (url, region) => {
  expect(await sqsFor(url).config.region()).toBe(region);
});

test.each([
  ["http://127.0.0.1:4566/1/q", true],
  ["http://localhost:4566/1/q", true],
  [OUTPUTS.QueueUrl, false],
  ["https://127.0.0.1.example.com/q", false],
])("whether %s is on this machine: %j", (url, local) => {
  expect(isLocal(url)).toBe(local);
});

test.each<[string | undefined, string | null, string]>([
  ["sk_test_1", null, "https://dashboard.stripe.com/test/payments/pi_1"],
  ["rk_live_1", null, "https://dashboard.stripe.com/payments/pi_1"],
  [undefined, null, "https://dashboard.stripe.com/payments/pi_1"],
  ["sk_test_1", "http://127.0.0.1:4010", "http://127.0.0.1:4010/v1/payment_intents/pi_1"],
])("a PaymentIntent's link with the key %s at %s", (key, base, link) => {
  expect(linkTo(key, base === null ? null : new URL(base))("pi_1")).toBe(link);
});

test("the bin is the same command: its help, its version, and a sentence for what it or AWS does not know", async () => {
  const operator = await startOperator();
  const bin = join(import.meta.dirname, "../../cli/payments.cjs");

  const help = await operator.start(bin, ["--help"]).finished;
  const version = await operator.payments("--version");
  const unknown = await operator.payments("refund");
  operator.running.tableName = "missing";
  operator.announce();
  const failed = await operator.payments("status", "order-1");

  expect(help.code).toBe(0);
  expect(help.stdout).toMatch(/^npm run payments -- <command>/);
  expect(version).toEqual({ code: 0, stdout: "1.0.0\n", stderr: "" });
  expect(unknown).toEqual({
    code: 2,
    stdout: "",
    stderr: '"refund" is not a command of payments: see npm run payments -- --help.\n',
  });
  expect(failed.code).toBe(1);
  expect(failed.stderr).toMatch(/^AWS did not accept the call: ResourceNotFoundException: .+\n$/);
});
