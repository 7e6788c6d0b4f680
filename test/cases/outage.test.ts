// Everything fails at Stripe for an hour, and the messages must outlast it: the worker's own code on
// virtual time, with timings whose rule asks for an hour.

import type { ChangeMessageVisibilityBatchCommand, SQSClient } from "@aws-sdk/client-sqs";
import type { DynamoDBDocumentClient } from "@aws-sdk/lib-dynamodb";
import type { SQSRecord } from "aws-lambda";
import { expect, onTestFinished, test } from "vitest";

import { recordsTable } from "../../lib/aws/records-table.ts";
import { createPaymentHandler } from "../../lib/lambda/payment-handler.ts";
import { fixedKey } from "../../lib/stripe/api-key.ts";
import { stripeCharges } from "../../lib/stripe/charges.ts";
import { createQueue } from "../../simulation/models/queue.ts";
import type { QueuedMessage } from "../../simulation/models/queue.ts";
import { createStripe } from "../../simulation/models/stripe.ts";
import { createTable } from "../../simulation/models/table.ts";
import { serve } from "../conformance/servers/simulated-stripe.ts";
import { TIMINGS } from "../support/timings.ts";

const START = Date.parse("2026-11-29T12:00:00Z");
const OUTAGE_MS = 3_600_000;
const MESSAGES = 40;

/**
 * Sends every message as the outage begins, and polls at full pace, as if Lambda never slowed down,
 * until no message is left. `random` decides how long the worker's waits are.
 */
async function outlast(random: () => number) {
  const clock = { now: START };
  const now = () => clock.now;
  const { maxReceiveCount, visibilityTimeoutMs, queueRetentionMs: retentionMs } = TIMINGS;
  const settings = { now, maxReceiveCount, visibilityTimeoutMs, retentionMs };
  const queue = createQueue<string>({ ...settings, takesStaleReceipts: false });
  const table = createTable({
    partitionKey: "messageId",
    ttlAttribute: "expiresAt",
    now,
    deletesExpired: true,
  });
  const model = createStripe({ now, prunesKeys: true });
  let rejected = 0;
  const stripe = await serve((request) => {
    if (now() >= START + OUTAGE_MS) return model.receive(request)();
    rejected += 1;
    return { status: 503, body: '{"error":{"type":"api_error","message":"Unavailable"}}' };
  });
  onTestFinished(stripe.stop);

  const handler = createPaymentHandler({
    records: recordsTable(
      { send: async (command: object) => table.apply(command) } as DynamoDBDocumentClient,
      "records",
    ),
    charges: stripeCharges(fixedKey("sk_test_local"), new URL(stripe.url)),
    queue: {
      client: {
        send: async ({ input }: ChangeMessageVisibilityBatchCommand) => {
          for (const { ReceiptHandle = "", VisibilityTimeout = 0 } of input.Entries ?? []) {
            queue.setVisibility(ReceiptHandle, VisibilityTimeout);
          }
          return { Successful: [], Failed: [] };
        },
      } as unknown as SQSClient,
      url: "http://queue",
    },
    functionName: "payment-worker",
    timings: TIMINGS,
    now,
    random,
    newOwner: () => `owner-${Math.random()}`,
    write: () => {},
  });

  for (let i = 0; i < MESSAGES; i++) {
    const payment = { amount: 1200, currency: "eur", customer: "cus_ada", paymentMethod: "pm_a" };
    queue.send(JSON.stringify({ id: `order-${i}`, createdAt: "2026-11-29T12:00:00Z", ...payment }));
  }
  for (;;) {
    const waiting = queue.messages.filter(({ place }) => place === "queue");
    if (waiting.length === 0) break;
    clock.now = Math.max(clock.now, Math.min(...waiting.map(({ visibleAt }) => visibleAt)));
    const batch = queue.receivable().slice(0, TIMINGS.batchSize);
    const failed = await invoke(batch);
    for (const message of batch) {
      if (!failed.includes(message.sqsMessageId)) queue.remove(message.receipt);
    }
  }

  /** The SQS ids of what is not to be deleted. */
  async function invoke(batch: QueuedMessage<string>[]): Promise<string[]> {
    const Records = batch.map((message) => {
      const receiptHandle = queue.receive(message);
      const attributes = { ApproximateReceiveCount: String(message.receiveCount) };
      const { sqsMessageId: messageId, sent: body } = message;
      return { messageId, receiptHandle, body, attributes } as SQSRecord;
    });
    const context = { awsRequestId: "request-1", getRemainingTimeInMillis: () => 60_000 };
    try {
      const { batchItemFailures } = await handler({ Records }, context);
      return batchItemFailures.map(({ itemIdentifier }) => itemIdentifier);
    } catch {
      return batch.map(({ sqsMessageId }) => sqsMessageId);
    }
  }

  return {
    rejected,
    places: new Set(queue.messages.map(({ place }) => place)),
    charged: model.intents.map(({ metadata }) => metadata["message_id"]),
    outcomes: table.items().map((record) => record["status"]),
  };
}

test.each([
  ["the shortest", () => 0],
  ["the longest", () => 1],
  ["random", Math.random],
])(
  "an hour of Stripe's 503 sends no message to the dead-letter queue and doubles none, with %s waits",
  async (_waits, random) => {
    const { rejected, places, charged, outcomes } = await outlast(random);

    expect(places).toEqual(new Set(["acknowledged"]));
    expect(charged).toHaveLength(MESSAGES);
    expect(new Set(charged).size).toBe(MESSAGES);
    expect(outcomes).toEqual(Array(MESSAGES).fill("COMPLETED"));
    // The outage was felt: every message tried several times before it was over.
    expect(rejected).toBeGreaterThanOrEqual(5 * MESSAGES);
  },
);
