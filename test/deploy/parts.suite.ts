import { request } from "node:https";

import { GetItemCommand, PutItemCommand } from "@aws-sdk/client-dynamodb";
import { DeleteMessageCommand, ReceiveMessageCommand } from "@aws-sdk/client-sqs";
import { Stripe } from "stripe";
import { afterAll, beforeAll, beforeEach, expect, test, vi } from "vitest";

import { startDeployment } from "./deployment.ts";
import type { Deployment, Outputs } from "./deployment.ts";

const PATIENCE = { timeout: 60_000, interval: 250 };
const SIGNING_SECRET = "whsec_deployed";

let deployment: Deployment;
let outputs: Outputs;
/** The events that a queue of `addQueue` was sent. */
const observed: Record<string, unknown>[] = [];

beforeAll(async () => {
  deployment = await startDeployment();
});
afterAll(() => deployment?.stop());
beforeEach(({ onTestFailed }) => {
  onTestFailed(() => console.error(deployment.emulator.log()));
});

const pay = (id: string, paymentMethod: string) =>
  deployment.send(outputs["QueueUrl"], id, { paymentMethod });

/** The outcome events about a payment so far, in the order of their revisions. */
async function eventsOf(messageId: string): Promise<Record<string, unknown>[]> {
  const QueueUrl = outputs["ObserverQueueUrl"];
  const { Messages = [] } = await deployment.sqs.send(
    new ReceiveMessageCommand({ QueueUrl, MaxNumberOfMessages: 10 }),
  );
  for (const { Body = "", ReceiptHandle } of Messages) {
    observed.push(JSON.parse(Body));
    await deployment.sqs.send(new DeleteMessageCommand({ QueueUrl, ReceiptHandle }));
  }
  return observed.filter(({ detail }) => (detail as { subject: string }).subject === messageId);
}

/** Sends an event to the deployed function URL as Stripe would; answers with the status. */
function post(body: string, signature: string): Promise<number | undefined> {
  // The emulator serves its own function URLs below its own address.
  const [id = ""] = new URL(outputs["WebhookUrl"] ?? "").hostname.split(".");
  const url = new URL(`/_aws/lambda-url/${id}/`, deployment.emulator.url);
  const { httpsAgent: agent } = deployment.emulator.client.requestHandler;
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
  await deployment.bootstrap();
  outputs = await deployment.deploy({ PARTS: "1" });

  expect(outputs).toMatchObject({
    WebhookUrl: expect.stringMatching(/^https:/),
    EventBusName: expect.any(String),
    EventSource: "urn:payment-worker:dev",
    OrdersTableName: expect.any(String),
    ApiUrl: expect.stringMatching(/^https:/),
  });
  await deployment.putSecret(outputs["SecretArn"], "sk_test_local");
  await deployment.putSecret(outputs["WebhookSecretArn"], SIGNING_SECRET);
});

test("a message becomes a charge, the charge an event, and the event a shipped order", async () => {
  const place = (Item: Record<string, { S: string } | { N: string }>) =>
    deployment.dynamodb.send(new PutItemCommand({ TableName: outputs["OrdersTableName"], Item }));
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
    const { Item } = await deployment.dynamodb.send(
      new GetItemCommand({
        TableName: outputs["OrdersTableName"],
        Key: { pk: { S: "order#deployed-1" } },
      }),
    );
    expect(Item).toMatchObject({ status: { S: "paid" }, fulfillment: { S: "shipped" } });
  }, PATIENCE);
  expect(deployment.stripe.ledger.charges()).toMatchObject([
    { messageId: "deployed-1", amount: 1250 },
  ]);
});

test("a signed event of Stripe's finishes a payment that was processing; a forged one is not taken", async () => {
  const bodies: string[] = [];
  const end = deployment.stripe.onEvent(({ event }) => void bodies.push(JSON.stringify(event)));
  await pay("deployed-2", "pm_usBankAccount_success");
  await vi.waitFor(async () => {
    expect(await eventsOf("deployed-2")).toMatchObject([{ "detail-type": "payment.processing" }]);
  }, PATIENCE);

  const intent = deployment.stripe.paymentIntents().find(({ status }) => status === "processing");
  deployment.stripe.step(intent?.id ?? "", "succeed");
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
