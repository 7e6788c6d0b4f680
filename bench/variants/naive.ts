// What most posts about SQS, DynamoDB and Stripe show: for each message read, charge, write.

import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { DynamoDBDocumentClient, GetCommand, PutCommand } from "@aws-sdk/lib-dynamodb";
import type { SQSBatchResponse, SQSEvent } from "aws-lambda";
import { Stripe } from "stripe";

import { stripeOptions } from "./stripe-options.ts";

const table = DynamoDBDocumentClient.from(new DynamoDBClient({}));
const stripe = new Stripe(process.env["STRIPE_API_KEY"] ?? "", stripeOptions());
const TableName = process.env["RECORDS_TABLE"];

export async function handler(event: SQSEvent): Promise<SQSBatchResponse> {
  for (const { body } of event.Records) {
    const payment = JSON.parse(body);
    const messageId = payment.id;
    const { Item } = await table.send(new GetCommand({ TableName, Key: { messageId } }));
    if (Item) continue;

    const intent = await stripe.paymentIntents.create(
      {
        amount: payment.amount,
        currency: payment.currency,
        customer: payment.customer,
        payment_method: payment.paymentMethod,
        confirm: true,
        off_session: true,
      },
      { idempotencyKey: messageId },
    );
    const item = { messageId, status: intent.status, paymentIntentId: intent.id };
    await table.send(new PutCommand({ TableName, Item: item }));
    console.log(JSON.stringify({ message: "charged", messageId, status: intent.status }));
  }
  return { batchItemFailures: [] };
}
