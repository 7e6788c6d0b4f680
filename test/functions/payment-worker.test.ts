// The bundle itself, in a process of its own: what it asks of the table and of Stripe, that nothing
// it needs was left out. The numbers are exact; the servers count them.

import { createServer } from "node:http";
import { fileURLToPath } from "node:url";

import { expect, onTestFinished, test } from "vitest";

import { startEnvironment } from "../../local/function-host/execution-environment.ts";
import { functionSettings } from "../../local/function-host/function-settings.ts";
import { startQueue } from "../../local/queue/server.ts";
import { startStripe } from "../../local/stripe/server.ts";
import { startTable } from "../../local/table/server.ts";
import { listen } from "../support/listen.ts";
import { payment as madePayment } from "../support/worker.ts";

const BUNDLE = fileURLToPath(new URL("../../dist/payment-worker/index.js", import.meta.url));

const payment = (id: string, changes: Record<string, unknown> = {}) =>
  madePayment({ id, createdAt: new Date().toISOString(), ...changes });

/** The bundle with everything around it; `env` on top of what the local stack gives it. */
async function startBundle(env: Record<string, string> = {}) {
  const [table, stripe, queue] = await Promise.all([startTable(), startStripe(), startQueue()]);
  await table.createRecordsTable("records");
  const { queueUrl } = await queue.createQueues({
    name: "payments",
    visibilityTimeoutSeconds: 360,
    maxReceiveCount: 14,
  });
  const lines: string[] = [];
  const settings = functionSettings({
    bundle: BUNDLE,
    timeoutMs: 60_000,
    env: {
      AWS_REGION: "us-east-1",
      AWS_ACCESS_KEY_ID: "local",
      AWS_SECRET_ACCESS_KEY: "local",
      AWS_ENDPOINT_URL_DYNAMODB: table.url,
      AWS_ENDPOINT_URL_SQS: queue.url,
      RECORDS_TABLE: "records",
      QUEUE_URL: queueUrl,
      STRIPE_API_BASE: stripe.url,
      ...("STRIPE_SECRET_ARN" in env ? {} : { STRIPE_API_KEY: "sk_test_local" }),
      ...env,
    },
  });
  const environment = startEnvironment(settings, ({ line }) => lines.push(line));
  onTestFinished(async () => {
    environment.kill("SIGKILL");
    await environment.exited;
    await Promise.all([table.stop(), stripe.stop(), queue.stop()]);
  });

  const stripeRequests = () =>
    stripe.ledger.requests().map(({ method, path }) => `${method} ${path}`);
  /** Delivers one batch, and answers with what it asked of the servers, and with who failed. */
  const deliver = async (...messages: object[]) => {
    const tableBefore = table.requests().length;
    const stripeBefore = stripeRequests().length;
    const event = {
      Records: messages.map((message, index) => ({
        messageId: `sqs-${index}`,
        receiptHandle: `handle-${index}`,
        body: JSON.stringify(message),
        attributes: { ApproximateReceiveCount: "1" },
      })),
    };
    const result = await environment.invoke(JSON.stringify(event));
    return {
      table: table
        .requests()
        .slice(tableBefore)
        .map(({ operation }) => operation),
      stripe: stripeRequests().slice(stripeBefore),
      failures: result.ok ? JSON.parse(result.payload).batchItemFailures : result,
    };
  };
  return { table, stripe, queue, lines, deliver };
}

test("a first delivery costs two requests to the table and one to Stripe, a duplicate one to the table", async () => {
  const { deliver } = await startBundle();
  const first = payment("order-1");

  expect(await deliver(first)).toEqual({
    table: ["PutItem", "UpdateItem"],
    stripe: ["POST /v1/payment_intents"],
    failures: [],
  });
  expect(await deliver(first)).toEqual({ table: ["PutItem"], stripe: [], failures: [] });
});

test("a takeover costs three table requests and one Stripe request", async () => {
  const { deliver, stripe } = await startBundle();
  stripe.faults.add({ method: "POST" }, { kind: "refuse", error: "rate_limit" });
  const first = payment("order-1");
  await deliver(first);

  expect(await deliver(first)).toEqual({
    table: ["PutItem", "UpdateItem", "UpdateItem"],
    stripe: ["POST /v1/payment_intents"],
    failures: [],
  });
});

test("a batch of ten costs what ten deliveries do, and a warm one opens no connection", async () => {
  const { deliver, table, stripe } = await startBundle();
  const batch = (name: string) => Array.from({ length: 10 }, (_, i) => payment(`${name}-${i}`));
  const opened = () => [table.connections(), stripe.connections()];
  table.faults.add(
    { operation: "PutItem", times: 10 },
    { kind: "hook", at: "arriving", run: meet(10) },
  );
  stripe.faults.add({ times: 10 }, { kind: "hook", at: "arriving", run: meet(10) });
  await deliver(...batch("first"));
  expect(opened()).toEqual([10, 10]);

  const second = await deliver(...batch("second"));

  expect(second.table).toHaveLength(20);
  expect(second.stripe).toHaveLength(10);
  expect(opened()).toEqual([10, 10]);
});

/** Lets nobody through until so many are there. */
function meet(count: number): () => Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  let here = 0;
  return () => {
    here += 1;
    if (here === count) resolve();
    return promise;
  };
}

test("nothing that the lookup after the key window needs is left out of the bundle", async () => {
  const { deliver } = await startBundle({ KEY_WINDOW_SECONDS: "0" });

  expect(await deliver(payment("order-1"))).toEqual({
    table: ["PutItem", "UpdateItem"],
    stripe: ["GET /v1/payment_intents", "POST /v1/payment_intents"],
    failures: [],
  });
});

test("nothing that a decline or an invalid message needs is left out of the bundle", async () => {
  const { deliver, queue, lines, table } = await startBundle();

  const { failures } = await deliver(
    payment("order-1", { paymentMethod: "pm_card_chargeDeclined" }),
    payment("order-2", { amount: 0 }),
  );

  expect(await table.item("records", "order-1")).toMatchObject({
    outcome: { result: "declined", code: "card_declined" },
  });
  expect(failures).toEqual([{ itemIdentifier: "sqs-1" }]);
  expect(queue.counts()["ChangeMessageVisibilityBatch"]).toBe(1);
  // The handle is made up: SQS's answer to it was read.
  expect(lines.join("\n")).toContain('"code":"ReceiptHandleIsInvalid"');
});

test("nothing that the key in Secrets Manager needs is left out of the bundle", async () => {
  const asked: unknown[] = [];
  const secrets = createServer((request, response) => {
    asked.push(request.headers["x-amz-target"]);
    response.end(JSON.stringify({ SecretString: "sk_test_local" }));
  });
  const port = await listen(secrets);
  const { deliver } = await startBundle({
    STRIPE_SECRET_ARN: "arn:aws:secretsmanager:us-east-1:000000000000:secret:stripe",
    AWS_ENDPOINT_URL_SECRETS_MANAGER: `http://127.0.0.1:${port}`,
  });

  const { failures } = await deliver(payment("order-1"), payment("order-2"));

  expect(failures).toEqual([]);
  expect(asked).toEqual(["secretsmanager.GetSecretValue"]);
});

test("without its role's credentials the worker does not start, and says which are missing", async () => {
  const { deliver } = await startBundle({ AWS_ACCESS_KEY_ID: "" });

  const { failures } = await deliver(payment("order-1"));

  expect(failures).toMatchObject({
    ok: false,
    errorMessage: expect.stringMatching(/^AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY are not set/),
  });
});
