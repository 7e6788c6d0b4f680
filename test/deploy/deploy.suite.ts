import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { DescribeTableCommand, DynamoDBClient, GetItemCommand } from "@aws-sdk/client-dynamodb";
import { PutSecretValueCommand, SecretsManagerClient } from "@aws-sdk/client-secrets-manager";
import { GetQueueAttributesCommand, SendMessageCommand, SQSClient } from "@aws-sdk/client-sqs";
import { afterAll, beforeAll, beforeEach, expect, test, vi } from "vitest";

import { startStripe } from "../../local/stripe/server.ts";
import type { StripeServer } from "../../local/stripe/server.ts";
import { cdk, readOutputs } from "./cdk.ts";
import type { Outputs } from "./cdk.ts";
import { startEmulator } from "./emulator.ts";
import type { Emulator } from "./emulator.ts";

const PATIENCE = { timeout: 30_000, interval: 250 };

let emulator: Emulator;
let stripe: StripeServer;
let stripeAheadMs = 0;
let folder: string;
let outputs: Outputs;
let dynamodb: DynamoDBClient;
let sqs: SQSClient;
let secrets: SecretsManagerClient;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "deploy-"));
  [emulator, stripe] = await Promise.all([
    startEmulator(folder),
    startStripe({ now: () => Date.now() + stripeAheadMs }),
  ]);
  dynamodb = new DynamoDBClient(emulator.client);
  sqs = new SQSClient(emulator.client);
  secrets = new SecretsManagerClient(emulator.client);
});

afterAll(async () => {
  await Promise.all([emulator?.stop(), stripe?.stop()]);
  if (folder) rmSync(folder, { recursive: true });
});

beforeEach(({ onTestFailed }) => {
  onTestFailed(() => console.error(emulator.log()));
});

/** Runs a CDK command on the suite's app; a redeployment changes `revision`, or adds the parts. */
async function run(revision: string, ...args: string[]): Promise<string> {
  const env = {
    ...emulator.environment,
    STRIPE_API_BASE: stripe.url,
    REVISION: revision,
    PARTS: revision === "parts" ? "1" : "",
  };
  return cdk(env, ...args, "--app", "node test/deploy/app.ts", "--output", join(folder, "cdk.out"));
}

async function deploy(revision: string): Promise<Outputs> {
  const file = join(folder, "outputs.json");
  await run(revision, "deploy", "--require-approval=never", "--outputs-file", file);
  return readOutputs(file);
}

async function send(body: object, queueUrl = outputs.QueueUrl): Promise<void> {
  await sqs.send(new SendMessageCommand({ QueueUrl: queueUrl, MessageBody: JSON.stringify(body) }));
}

function payment(id: string): object {
  return {
    id,
    createdAt: new Date().toISOString(),
    amount: 1250,
    currency: "eur",
    customer: "cus_deployed",
    paymentMethod: "pm_card_visa",
  };
}

async function record(id: string): Promise<Record<string, unknown> | undefined> {
  const { Item } = await dynamodb.send(
    new GetItemCommand({ TableName: outputs.TableName, Key: { messageId: { S: id } } }),
  );
  return Item;
}

/** Messages in a queue, waiting and in flight. */
async function depth(queueUrl: string): Promise<number> {
  const { Attributes = {} } = await sqs.send(
    new GetQueueAttributesCommand({ QueueUrl: queueUrl, AttributeNames: ["All"] }),
  );
  return (
    Number(Attributes["ApproximateNumberOfMessages"]) +
    Number(Attributes["ApproximateNumberOfMessagesNotVisible"])
  );
}

test("the stack deploys into a bootstrapped account, and its outputs name its parts", async () => {
  await run("1", "bootstrap", "aws://000000000000/us-east-1");

  outputs = await deploy("1");

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
  await secrets.send(
    new PutSecretValueCommand({ SecretId: outputs.SecretArn, SecretString: "sk_test_deployed" }),
  );

  await send(payment("deployed-1"));

  await vi.waitFor(async () => {
    expect(await record("deployed-1")).toMatchObject({
      status: { S: "COMPLETED" },
      attempt: { N: "1" },
    });
  }, PATIENCE);
  await vi.waitFor(async () => expect(await depth(outputs.QueueUrl)).toBe(0), PATIENCE);
  expect(stripe.ledger.charges()).toMatchObject([
    { messageId: "deployed-1", account: "acct_deployed", amount: 1250, currency: "eur" },
  ]);
});

test("a message with a broken body reaches the dead-letter queue and is never charged", async () => {
  await send({ ...payment("deployed-2"), amount: 12.5 });

  await vi.waitFor(async () => expect(await depth(outputs.DlqUrl)).toBe(1), PATIENCE);
  expect(stripe.ledger.requestsFor("deployed-2")).toStrictEqual([]);
});

test("a redeployment changes the function alone and keeps the records: a repeat charges nothing", async () => {
  const before = outputs;
  const diff = await run("2", "diff");

  outputs = await deploy("2");
  await send(payment("deployed-3"));
  await send(payment("deployed-1"));

  expect(diff.match(/^\[[-+~]\] .*/gm)).toStrictEqual([
    expect.stringMatching(/^\[~\] AWS::Lambda::Function PaymentWorker\/Worker\/Function /),
  ]);
  expect(await run("2", "diff")).toContain("There were no differences");
  expect(outputs).toStrictEqual(before);
  await vi.waitFor(async () => {
    expect(await record("deployed-3")).toMatchObject({ status: { S: "COMPLETED" } });
  }, PATIENCE);
  await vi.waitFor(async () => expect(await depth(outputs.QueueUrl)).toBe(0), PATIENCE);
  expect(stripe.ledger.charges().map((charge) => charge.messageId)).toStrictEqual([
    "deployed-1",
    "deployed-3",
  ]);
});

test("an id that reaches two queues on one table is charged once, also when Stripe has forgotten its key", async () => {
  await send(payment("shared-1"));
  await vi.waitFor(async () => {
    expect(await record("shared-1")).toMatchObject({ status: { S: "COMPLETED" } });
  }, PATIENCE);
  stripeAheadMs = 25 * 60 * 60 * 1_000;
  await send(payment("shared-1"), outputs.SecondQueueUrl);
  await send(payment("shared-2"), outputs.SecondQueueUrl);

  await vi.waitFor(async () => {
    expect(await record("shared-2")).toMatchObject({ status: { S: "COMPLETED" } });
  }, PATIENCE);
  await vi.waitFor(async () => expect(await depth(outputs.SecondQueueUrl)).toBe(0), PATIENCE);
  expect(stripe.ledger.requestsFor("shared-1")).toHaveLength(1);
  expect(stripe.ledger.countsFor("shared-1").charges).toBe(1);
  expect(stripe.ledger.countsFor("shared-2").charges).toBe(1);
});

test("switching every part on changes the table by its stream alone, in place, and keeps the records", async () => {
  const diff = await run("parts", "diff");
  const [, change = ""] = diff.split(
    /^\[~\] AWS::DynamoDB::Table PaymentWorker\/Records\/Table .*\n/m,
  );

  const { TableName } = await deploy("parts");

  expect(change.split(/^\[/m)[0]?.match(/\[[-+~]\] .*/g)).toStrictEqual([
    "[~] SSESpecification", // names the key, whose policy lets EventBridge use it now
    "[+] StreamSpecification",
  ]);
  expect(diff).not.toMatch(/Records\/Table .*(?:replace|destroy)/);
  expect(TableName).toBe(outputs.TableName);
  expect(await record("deployed-1")).toMatchObject({ status: { S: "COMPLETED" } });
});

test("destroying the dev stage leaves no table behind", async () => {
  await run("parts", "destroy", "--force");

  await expect(
    dynamodb.send(new DescribeTableCommand({ TableName: outputs.TableName })),
  ).rejects.toThrow(expect.objectContaining({ name: "ResourceNotFoundException" }));
});
