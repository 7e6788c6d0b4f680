// The built bundle, run by the local event source, on a table and a queue that nobody here wrote.

import {
  GetQueueAttributesCommand,
  ReceiveMessageCommand,
  SendMessageCommand,
} from "@aws-sdk/client-sqs";
import { expect, onTestFinished, test, vi } from "vitest";

import { hostOnQueue } from "../../local/hosted-function.ts";
import { paymentWorker } from "../../local/payment-worker.ts";
import { startStripe } from "../../local/stripe/server.ts";
import type { SqsSubject } from "./scenarios/sqs-api.ts";
import { item } from "./scenarios/table.ts";
import { startElasticMq, startMinistack, startMoto } from "./servers/aws.ts";
import { createRecordsTable, sqsClient } from "./servers/clients.ts";
import { createQueues } from "./servers/queues.ts";

const payment = (id: string, changes: object = {}) => ({
  id,
  createdAt: new Date().toISOString(),
  amount: 1200,
  currency: "eur",
  customer: "cus_ada",
  paymentMethod: "pm_card_visa",
  ...changes,
});

/** Resolves when the queue holds nothing, visible or in flight. */
async function drained({ client, queueUrl }: SqsSubject): Promise<void> {
  const command = new GetQueueAttributesCommand({ QueueUrl: queueUrl, AttributeNames: ["All"] });
  await vi.waitUntil(
    async () => {
      const { Attributes = {} } = await client.send(command);
      const { ApproximateNumberOfMessages, ApproximateNumberOfMessagesNotVisible } = Attributes;
      return ApproximateNumberOfMessages === "0" && ApproximateNumberOfMessagesNotVisible === "0";
    },
    { timeout: 50_000, interval: 200 },
  );
}

async function receiveAll({ client, dlqUrl }: SqsSubject): Promise<unknown[]> {
  const { Messages = [] } = await client.send(
    new ReceiveMessageCommand({ QueueUrl: dlqUrl, MaxNumberOfMessages: 10, WaitTimeSeconds: 2 }),
  );
  return Messages.map(({ Body = "" }) => Body);
}

const STARTS = { moto: startMoto, ministack: startMinistack, ElasticMQ: startElasticMq };

test.each([
  ["moto", "moto"],
  ["ministack", "ElasticMQ"],
] as const)(
  "the worker keeps its guarantee with the table of %s and the queue of %s",
  async (tableOf, queueOf) => {
    // Prepare: a repeat, a decline, a conflict, a malformed message, and a worker that dies.
    const [tableServer, queueServer, stripe] = await Promise.all([
      STARTS[tableOf](),
      STARTS[queueOf](),
      startStripe(),
    ]);
    onTestFinished(async () => {
      await Promise.all([tableServer.stop(), queueServer.stop(), stripe.stop()]);
    });
    const table = await createRecordsTable(tableServer.url);
    const queues = await createQueues(sqsClient(queueServer.url), {
      visibilityTimeoutSeconds: 8,
      maxReceiveCount: 5,
    });
    const conflicting = JSON.stringify(payment("order-2", { amount: 700 }));
    const bodies = [
      ...Array.from({ length: 6 }, (_, i) => JSON.stringify(payment(`order-${i}`))),
      JSON.stringify(payment("declined", { paymentMethod: "pm_card_visa_chargeDeclined" })),
      "no JSON",
    ];
    const spec = paymentWorker();
    const queue = {
      queueUrl: queues.queueUrl,
      queueArn: queues.dlqArn.replace(/-dlq$/, ""),
      endpoint: queueServer.url,
    };
    const env = {
      ...spec.env,
      AWS_LAMBDA_FUNCTION_NAME: "payment-worker",
      AWS_REGION: "us-east-1",
      AWS_ACCESS_KEY_ID: "local",
      AWS_SECRET_ACCESS_KEY: "local",
      AWS_ENDPOINT_URL_DYNAMODB: tableServer.url,
      AWS_ENDPOINT_URL_SQS: queueServer.url,
      RECORDS_TABLE: table.tableName,
      // ElasticMQ does not know which free port it was given, and the SDK goes where the URL says.
      QUEUE_URL: queueServer.url + new URL(queues.queueUrl).pathname,
      STRIPE_API_BASE: stripe.url,
      STRIPE_API_KEY: "sk_test_local",
    };
    const worker = hostOnQueue({ ...spec, env }, queue, spec.trigger);
    onTestFinished(() => worker.stop());
    const killed = stripe.faults.add(
      { messageId: "order-5" },
      { kind: "hook", at: "applied", run: () => void worker.kill() },
    );
    const send = (MessageBody: string) =>
      queues.client.send(new SendMessageCommand({ QueueUrl: queues.queueUrl, MessageBody }));

    // Act
    for (const body of bodies) await send(body);
    await drained(queues);
    await send(JSON.stringify(payment("order-1")));
    await send(conflicting);
    await drained(queues);
    await worker.idle();

    // Assess: by Stripe's ledger, the table and the dead-letter queue.
    const charged = stripe.ledger.charges().map(({ messageId }) => messageId ?? "");
    expect(charged.toSorted((a, b) => a.localeCompare(b))).toEqual([
      "order-0",
      "order-1",
      "order-2",
      "order-3",
      "order-4",
      "order-5",
    ]);
    expect(killed.happened()).toBe(1);
    const results: unknown[] = [];
    for (const messageId of ["order-1", "order-2", "order-5", "declined"]) {
      const { status, outcome } = (await item(table, messageId)) ?? {};
      results.push([status, (outcome as { result?: string } | undefined)?.result]);
    }
    expect(results).toEqual([
      ["COMPLETED", "succeeded"],
      ["COMPLETED", "succeeded"],
      ["COMPLETED", "succeeded"],
      ["COMPLETED", "declined"],
    ]);
    expect(new Set(await receiveAll(queues))).toEqual(new Set(["no JSON", conflicting]));
  },
  120_000,
);
