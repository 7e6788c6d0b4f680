import { DescribeTableCommand, GetItemCommand } from "@aws-sdk/client-dynamodb";
import { GetQueueAttributesCommand } from "@aws-sdk/client-sqs";
import { afterAll, beforeAll, beforeEach, expect, test, vi } from "vitest";

import { startDeployment } from "./deployment.ts";
import type { Deployment, Outputs } from "./deployment.ts";

const PATIENCE = { timeout: 30_000, interval: 250 };
const PARTS = { REVISION: "parts", PARTS: "1" };

let deployment: Deployment;
let stripeAheadMs = 0;
let outputs: Outputs;

beforeAll(async () => {
  deployment = await startDeployment(() => Date.now() + stripeAheadMs);
});
afterAll(() => deployment?.stop());
beforeEach(({ onTestFailed }) => {
  onTestFailed(() => console.error(deployment.emulator.log()));
});

const send = (id: string, changes: object = {}) =>
  deployment.send(outputs["QueueUrl"], id, changes);

async function record(id: string): Promise<Record<string, unknown> | undefined> {
  const { Item } = await deployment.dynamodb.send(
    new GetItemCommand({ TableName: outputs["TableName"], Key: { messageId: { S: id } } }),
  );
  return Item;
}

const completed = (id: string) =>
  vi.waitFor(async () => {
    expect(await record(id)).toMatchObject({ status: { S: "COMPLETED" } });
  }, PATIENCE);

/** Messages in a queue, waiting and in flight. */
async function depth(queueUrl: string | undefined): Promise<number> {
  const { Attributes = {} } = await deployment.sqs.send(
    new GetQueueAttributesCommand({ QueueUrl: queueUrl, AttributeNames: ["All"] }),
  );
  return (
    Number(Attributes["ApproximateNumberOfMessages"]) +
    Number(Attributes["ApproximateNumberOfMessagesNotVisible"])
  );
}

test("the stack deploys into a bootstrapped account, and its outputs name its parts", async () => {
  await deployment.bootstrap();

  outputs = await deployment.deploy({ REVISION: "1" });

  expect(Object.keys(outputs).toSorted()).toStrictEqual([
    "DlqUrl",
    "FunctionName",
    "LogGroupName",
    "QueueUrl",
    "SecondQueueUrl",
    "SecretArn",
    "TableName",
  ]);
});

test("a message that was sent is charged once with the secret's key, recorded and acknowledged", async () => {
  await deployment.putSecret(outputs["SecretArn"], "sk_test_deployed");

  await send("deployed-1");

  await completed("deployed-1");
  expect(await record("deployed-1")).toMatchObject({ attempt: { N: "1" } });
  await vi.waitFor(async () => expect(await depth(outputs["QueueUrl"])).toBe(0), PATIENCE);
  expect(deployment.stripe.ledger.charges()).toMatchObject([
    { messageId: "deployed-1", account: "acct_deployed", amount: 1250, currency: "eur" },
  ]);
});

test("a message with a broken body reaches the dead-letter queue and is never charged", async () => {
  await send("deployed-2", { amount: 12.5 });

  await vi.waitFor(async () => expect(await depth(outputs["DlqUrl"])).toBe(1), PATIENCE);
  expect(deployment.stripe.ledger.requestsFor("deployed-2")).toStrictEqual([]);
});

test("a redeployment changes the function alone and keeps the records: a repeat charges nothing", async () => {
  const before = outputs;
  const diff = await deployment.run({ REVISION: "2" }, "diff");

  outputs = await deployment.deploy({ REVISION: "2" });
  await send("deployed-3");
  await send("deployed-1");

  expect(diff.match(/^\[[-+~]\] .*/gm)).toStrictEqual([
    expect.stringMatching(/^\[~\] AWS::Lambda::Function PaymentWorker\/Worker\/Function /),
  ]);
  expect(await deployment.run({ REVISION: "2" }, "diff")).toContain("There were no differences");
  expect(outputs).toStrictEqual(before);
  await completed("deployed-3");
  await vi.waitFor(async () => expect(await depth(outputs["QueueUrl"])).toBe(0), PATIENCE);
  expect(deployment.stripe.ledger.charges().map((charge) => charge.messageId)).toStrictEqual([
    "deployed-1",
    "deployed-3",
  ]);
});

test("an id that reaches two queues on one table is charged once, also when Stripe has forgotten its key", async () => {
  await send("shared-1");
  await completed("shared-1");
  stripeAheadMs = 25 * 60 * 60 * 1_000;
  await deployment.send(outputs["SecondQueueUrl"], "shared-1");
  await deployment.send(outputs["SecondQueueUrl"], "shared-2");

  await completed("shared-2");
  await vi.waitFor(async () => expect(await depth(outputs["SecondQueueUrl"])).toBe(0), PATIENCE);
  expect(deployment.stripe.ledger.requestsFor("shared-1")).toHaveLength(1);
  expect(deployment.stripe.ledger.countsFor("shared-1").charges).toBe(1);
  expect(deployment.stripe.ledger.countsFor("shared-2").charges).toBe(1);
});

test("switching every part on changes the table by its stream alone, in place, and keeps the records", async () => {
  const diff = await deployment.run(PARTS, "diff");
  const [, change = ""] = diff.split(
    /^\[~\] AWS::DynamoDB::Table PaymentWorker\/Records\/Table .*\n/m,
  );

  const { TableName } = await deployment.deploy(PARTS);

  expect(change.split(/^\[/m)[0]?.match(/\[[-+~]\] .*/g)).toStrictEqual([
    "[~] SSESpecification", // names the key, whose policy lets EventBridge use it now
    "[+] StreamSpecification",
  ]);
  expect(diff).not.toMatch(/Records\/Table .*(?:replace|destroy)/);
  expect(TableName).toBe(outputs["TableName"]);
  expect(await record("deployed-1")).toMatchObject({ status: { S: "COMPLETED" } });
});

test("destroying the dev stage leaves no table behind", async () => {
  await deployment.run(PARTS, "destroy", "--force");

  await expect(
    deployment.dynamodb.send(new DescribeTableCommand({ TableName: outputs["TableName"] })),
  ).rejects.toThrow(expect.objectContaining({ name: "ResourceNotFoundException" }));
});
