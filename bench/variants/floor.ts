// The floor: the three requests of a delivery by bare HTTP and nothing else. No validation, no
// signature, no timeout, no log: what is left is the network and Node.

import * as http from "node:http";
import * as https from "node:https";

import type { SQSBatchResponse, SQSEvent } from "aws-lambda";

const table = new URL(process.env["AWS_ENDPOINT_URL_DYNAMODB"] ?? "");
const stripe = new URL("/v1/payment_intents", process.env["STRIPE_API_BASE"]);
const key = process.env["STRIPE_API_KEY"] ?? "";
const { Agent, request } = table.protocol === "https:" ? https : http;
const agent = new Agent({ keepAlive: true });

function post(url: URL, headers: Record<string, string>, body: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { method: "POST", agent, headers }, (response) => {
      response.on("end", () => resolve(response.statusCode ?? 0)).resume();
    });
    sent.on("error", reject);
    sent.end(body);
  });
}

function tableCall(operation: string, input: object): Promise<number> {
  const headers = {
    "content-type": "application/x-amz-json-1.0",
    "x-amz-target": `DynamoDB_20120810.${operation}`,
  };
  return post(table, headers, JSON.stringify(input));
}

async function deliver(body: string): Promise<void> {
  const payment = JSON.parse(body);
  const messageId = { S: payment.id };
  const claimed = await tableCall("PutItem", {
    TableName: "payments",
    Item: { messageId, status: { S: "IN_PROGRESS" } },
    ConditionExpression: "attribute_not_exists(messageId)",
  });
  if (claimed !== 200) return;
  const form = new URLSearchParams({
    amount: payment.amount,
    currency: payment.currency,
    customer: payment.customer,
    payment_method: payment.paymentMethod,
    confirm: "true",
    off_session: "true",
  });
  const headers = {
    authorization: `Bearer ${key}`,
    "content-type": "application/x-www-form-urlencoded",
    "idempotency-key": payment.id,
  };
  await post(stripe, headers, form.toString());
  await tableCall("UpdateItem", {
    TableName: "payments",
    Key: { messageId },
    UpdateExpression: "SET #status = :completed",
    ExpressionAttributeNames: { "#status": "status" },
    ExpressionAttributeValues: { ":completed": { S: "COMPLETED" } },
  });
}

export async function handler(event: SQSEvent): Promise<SQSBatchResponse> {
  await Promise.all(event.Records.map(({ body }) => deliver(body)));
  return { batchItemFailures: [] };
}
