import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { request } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { DynamoDBClient, GetItemCommand, PutItemCommand } from "@aws-sdk/client-dynamodb";
import { PutSecretValueCommand, SecretsManagerClient } from "@aws-sdk/client-secrets-manager";
import {
  DeleteMessageCommand,
  ReceiveMessageCommand,
  SendMessageCommand,
  SQSClient,
} from "@aws-sdk/client-sqs";
import { Stripe } from "stripe";
import { afterAll, beforeAll, beforeEach, expect, test, vi } from "vitest";

import { startStripe } from "../../local/stripe/server.ts";
import type { StripeServer } from "../../local/stripe/server.ts";
import { cdk } from "./cdk.ts";
import { startEmulator } from "./emulator.ts";
import type { Emulator } from "./emulator.ts";

const PATIENCE = { timeout: 60_000, interval: 250 };
const SIGNING_SECRET = "whsec_deployed";

let emulator: Emulator;
let stripe: StripeServer;
let folder: string;
let outputs: Record<string, string>;
let dynamodb: DynamoDBClient;
let sqs: SQSClient;
/** The events that a queue of `addQueue` was sent. */
const observed: Record<string, unknown>[] = [];

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "deploy-"));
  [emulator, stripe] = await Promise.all([startEmulator(folder), startStripe()]);
  dynamodb = new DynamoDBClient(emulator.client);
  sqs = new SQSClient(emulator.client);
});

afterAll(async () => {
  await Promise.all([emulator?.stop(), stripe?.stop()]);
  if (folder) rmSync(folder, { recursive: true });
});

beforeEach(({ onTestFailed }) => {
  onTestFailed(() => console.error(emulator.log()));
});

async function run(...args: string[]): Promise<string> {
  const env = { ...emulator.environment, STRIPE_API_BASE: stripe.url, PARTS: "1" };
  return cdk(env, ...args, "--app", "node test/deploy/app.ts", "--output", join(folder, "cdk.out"));
}

async function pay(id: string, paymentMethod: string): Promise<void> {
  const payment = {
    id,
    createdAt: new Date().toISOString(),
    amount: 1250,
    currency: "eur",
    customer: "cus_deployed",
    paymentMethod,
  };
  await sqs.send(
    new SendMessageCommand({
      QueueUrl: outputs["QueueUrl"],
      MessageBody: JSON.stringify(payment),
    }),
  );
}

/** The outcome events about a payment so far, in the order of their revisions. */
async function eventsOf(messageId: string): Promise<Record<string, unknown>[]> {
  const QueueUrl = outputs["ObserverQueueUrl"];
  const { Messages = [] } = await sqs.send(
    new ReceiveMessageCommand({ QueueUrl, MaxNumberOfMessages: 10 }),
  );
  for (const { Body = "", ReceiptHandle } of Messages) {
    observed.push(JSON.parse(Body));
    await sqs.send(new DeleteMessageCommand({ QueueUrl, ReceiptHandle }));
  }
  return observed.filter(({ detail }) => (detail as { subject: string }).subject === messageId);
}

/** Sends an event to the deployed function URL as Stripe would; answers with the status. */
function post(body: string, signature: string): Promise<number | undefined> {
  // The emulator serves its own function URLs below its own address.
  const [id = ""] = new URL(outputs["WebhookUrl"] ?? "").hostname.split(".");
  const url = new URL(`/_aws/lambda-url/${id}/`, emulator.url);
  const { httpsAgent: agent } = emulator.client.requestHandler;
  return new Promise((resolve, reject) => {
    const headers = { "content-type": "application/json", "stripe-signature": signature };
    request(url, { method: "POST", agent, headers }, (response) =>
      resolve(response.resume().statusCode),
    )
      .once("error", reject)
      .end(body);
  });
}

test("a stage with every part deploys", async () => {
  await run("bootstrap", "aws://000000000000/us-east-1");
  const file = join(folder, "outputs.json");
  await run("deploy", "--require-approval=never", "--outputs-file", file);

  outputs = JSON.parse(readFileSync(file, "utf8"))["PaymentWorker-dev"];
  expect(outputs).toMatchObject({
    WebhookUrl: expect.stringMatching(/^https:/),
    EventBusName: expect.any(String),
    EventSource: "urn:payment-worker:dev",
    OrdersTableName: expect.any(String),
    ApiUrl: expect.stringMatching(/^https:/),
  });
  const secrets = new SecretsManagerClient(emulator.client);
  for (const [SecretId, SecretString] of [
    [outputs["SecretArn"], "sk_test_local"],
    [outputs["WebhookSecretArn"], SIGNING_SECRET],
  ]) {
    await secrets.send(new PutSecretValueCommand({ SecretId, SecretString }));
  }
});

test("a message becomes a charge, the charge an event, and the event a shipped order", async () => {
  const place = (Item: Record<string, { S: string } | { N: string }>) =>
    dynamodb.send(new PutItemCommand({ TableName: outputs["OrdersTableName"], Item }));
  await place({ pk: { S: "sku#lamp" }, sku: { S: "lamp" }, onHand: { N: "3" } });
  await place({
    pk: { S: "order#deployed-1" },
    messageId: { S: "deployed-1" },
    orderId: { S: "1" },
    status: { S: "pending" },
    amount: { N: "1250" },
    currency: { S: "eur" },
    sku: { S: "lamp" },
    quantity: { N: "1" },
  });

  await pay("deployed-1", "pm_card_visa");

  await vi.waitFor(async () => {
    expect(await eventsOf("deployed-1")).toMatchObject([
      {
        source: "payment-worker",
        "detail-type": "payment.succeeded",
        detail: {
          id: "deployed-1:1",
          source: "urn:payment-worker:dev",
          revision: 1,
          data: { result: "succeeded", amount: 1250, currency: "eur" },
        },
      },
    ]);
  }, PATIENCE);
  await vi.waitFor(async () => {
    const { Item } = await dynamodb.send(
      new GetItemCommand({
        TableName: outputs["OrdersTableName"],
        Key: { pk: { S: "order#deployed-1" } },
      }),
    );
    expect(Item).toMatchObject({ status: { S: "paid" }, fulfillment: { S: "shipped" } });
  }, PATIENCE);
  expect(stripe.ledger.charges()).toMatchObject([{ messageId: "deployed-1", amount: 1250 }]);
});

test("a signed event of Stripe's finishes a payment that was processing; a forged one is not taken", async () => {
  const bodies: string[] = [];
  const end = stripe.onEvent(({ event }) => void bodies.push(JSON.stringify(event)));
  await pay("deployed-2", "pm_usBankAccount_success");
  await vi.waitFor(async () => {
    expect(await eventsOf("deployed-2")).toMatchObject([{ "detail-type": "payment.processing" }]);
  }, PATIENCE);

  const intent = stripe.paymentIntents().find(({ status }) => status === "processing");
  stripe.step(intent?.id ?? "", "succeed");
  end();
  const payload = bodies.at(-1) ?? "";
  const signed = (secret: string) => Stripe.webhooks.generateTestHeaderString({ payload, secret });

  expect(await post(payload, signed("whsec_another"))).toBe(400);
  expect(await post(payload, signed(SIGNING_SECRET))).toBe(200);
  await vi.waitFor(async () => {
    expect(await eventsOf("deployed-2")).toMatchObject([
      { detail: { id: "deployed-2:1", data: { result: "processing" } } },
      { detail: { id: "deployed-2:2", data: { result: "succeeded" } } },
    ]);
  }, PATIENCE);
});
