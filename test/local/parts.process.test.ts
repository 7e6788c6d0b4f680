// The whole system in processes of its own: what happens in one function reaches the next.

import { SendMessageCommand } from "@aws-sdk/client-sqs";
import { expect, onTestFinished, test, vi } from "vitest";

import {
  orderFulfillment,
  outcomePublisher,
  paymentApi,
  paymentFinalizer,
  reconciliation,
  stripeWebhook,
} from "../../local/parts.ts";
import { paymentWorker } from "../../local/payment-worker.ts";
import { ORDERS_TABLE, OUTCOME_BUS } from "../../local/servers.ts";
import { startStack } from "../../local/stack.ts";
import { queueClient } from "./aws-fixture.ts";

const PATIENCE_MS = 60_000;

async function prepare({ base64 = false }: { base64?: boolean } = {}) {
  const stack = await startStack({
    functions: [
      paymentWorker(),
      outcomePublisher(),
      paymentFinalizer(),
      orderFulfillment(),
      stripeWebhook({ base64 }),
      paymentApi({ base64 }),
    ],
  });
  onTestFinished(() => stack.stop());
  const sqs = queueClient(stack.queue.url);
  stack.bus.bus.addQueue(
    "orders",
    OUTCOME_BUS,
    { "detail-type": [{ prefix: "payment." }], detail: { revision: [{ exists: true }] } },
    { queueUrl: `${stack.queue.url}/000000000000/orders` },
  );
  const urlOf = (name: string) => stack.functions.find((one) => one.name === name)?.url ?? "";
  return {
    ...stack,
    drained: () => stack.drained(PATIENCE_MS),
    pay: (message: object) =>
      sqs.send(
        new SendMessageCommand({
          QueueUrl: stack.queues.queueUrl,
          MessageBody: JSON.stringify({ createdAt: new Date().toISOString(), ...message }),
        }),
      ),
    order: (messageId: string, quantity = 1) => {
      stack.table.put(ORDERS_TABLE, { pk: "sku#tea", sku: "tea", onHand: 5 });
      stack.table.put(ORDERS_TABLE, {
        pk: `order#${messageId}`,
        messageId,
        orderId: messageId,
        status: "pending",
        amount: 1200,
        currency: "eur",
        sku: "tea",
        quantity,
      });
    },
    item: (pk: string) => stack.table.item(ORDERS_TABLE, pk),
    events: () =>
      stack.bus.bus.published().map(({ detail }) => {
        const { id, type } = detail as { id: string; type: string };
        return `${id} ${type}`;
      }),
    door: (path: string, init?: RequestInit) => fetch(`${urlOf("payment-api")}${path}`, init),
  };
}

const PAYMENT = {
  amount: 1200,
  currency: "eur",
  customer: "cus_ada",
  paymentMethod: "pm_card_visa",
};

test.each([[false], [true]])(
  "an order that is paid by a bank debit is shipped when the debit arrives (base64: %s)",
  async (base64) => {
    const { order, pay, drained, events, item, stripe, table } = await prepare({ base64 });
    order("order-1", 2);
    await pay({ ...PAYMENT, id: "order-1", paymentMethod: "pm_usBankAccount_success" });
    await drained();
    expect(events()).toEqual(["order-1:1 payment.processing"]);
    expect(await item("order#order-1")).toMatchObject({ status: "pending" });
    expect(await item("shipment#order-1")).toBeUndefined();

    stripe.webhooks.faults.add({ type: "payment_intent.succeeded" }, { kind: "duplicate" });
    stripe.step(stripe.paymentIntents()[0]?.id ?? "", "succeed");
    await drained();
    expect(events()).toEqual(["order-1:1 payment.processing", "order-1:2 payment.succeeded"]);
    expect(await table.item("payment-records", "order-1")).toMatchObject({
      outcome: { result: "succeeded" },
      revision: 2,
    });
    expect(await item("order#order-1")).toMatchObject({ status: "paid", fulfillment: "shipped" });
    expect(await item("sku#tea")).toMatchObject({ onHand: 3 });
    expect(await item("shipment#order-1")).toMatchObject({ quantity: 2 });
  },
);

test("a client that retries over HTTP pays once, and the goods leave once", async () => {
  const { order, door, drained, item, stripe, events } = await prepare();
  order("order-2");
  const request = {
    method: "POST",
    headers: { "content-type": "application/json", "idempotency-key": "order-2" },
    body: JSON.stringify(PAYMENT),
  };
  const answers = await Promise.all([door("/payments", request), door("/payments", request)]);
  expect(answers.map(({ status }) => status)).toEqual([202, 202]);
  await drained();
  expect(stripe.ledger.charges()).toHaveLength(1);
  expect(events()).toEqual(["order-2:1 payment.succeeded"]);
  expect(await item("shipment#order-2")).toMatchObject({ quantity: 1 });
  const status = await door("/payments/order-2");
  expect(await status.json()).toMatchObject({ status: "succeeded", revision: 1 });
});

test("a publisher that is killed between publishing and its checkpoint publishes the same event again", async () => {
  const { pay, drained, bus, events, functions, feed } = await prepare();
  const publisher = functions.find(({ name }) => name === "outcome-publisher");
  bus.faults.add({}, { kind: "hook", at: "applied", run: () => void publisher?.kill() });
  await pay({ ...PAYMENT, id: "order-3" });
  await drained();
  expect(events()).toEqual(["order-3:1 payment.succeeded", "order-3:1 payment.succeeded"]);
  const ended: string[] = [];
  feed.subscribe((entry) => {
    if (entry.type === "environment ended") ended.push(entry.function);
  });
  expect(ended).toEqual(["outcome-publisher"]);
});

test("forged and stale requests reach nothing, and Stripe's own retries do", async () => {
  const { pay, drained, stripe, table } = await prepare();
  const about = { type: "payment_intent.succeeded" };
  stripe.webhooks.faults.add(about, { kind: "forged" });
  stripe.webhooks.faults.add({ ...about, attempt: 2 }, { kind: "stale", ms: 301_000 });
  await pay({ ...PAYMENT, id: "order-4", paymentMethod: "pm_usBankAccount_success" });
  await drained();
  stripe.step(stripe.paymentIntents()[0]?.id ?? "", "succeed");
  await drained();
  const statuses = stripe.webhooks
    .sendings()
    .filter(({ type }) => type === "payment_intent.succeeded")
    .map(({ status }) => status);
  expect(statuses).toEqual([400, 400, 200]);
  expect(await table.item("payment-records", "order-4")).toMatchObject({ revision: 2 });
});

test("a reconciliation that is killed is gone on with, two at once report the same, and a timer starts it", async () => {
  const stack = await startStack({
    functions: [paymentWorker(), reconciliation({ everyMs: 250, input: {} })],
  });
  onTestFinished(() => stack.stop());
  const [, reconciler] = stack.functions;
  // The timer has nothing to begin for an hour.
  const checkpoint = "reconciliation/checkpoint.json";
  stack.objects.put(checkpoint, JSON.stringify({ version: 1, finished: Date.now() }));
  const charge = async (id: string) => {
    const body = new URLSearchParams({
      amount: "1200",
      currency: "eur",
      payment_method: "pm_card_visa",
      confirm: "true",
      off_session: "true",
      "metadata[message_id]": id,
    });
    const headers = { authorization: "Bearer sk_test_local" };
    await fetch(`${stack.stripe.url}/v1/payment_intents`, { method: "POST", headers, body });
  };
  // None of them is recorded; two in one second are in one slice.
  for (const id of ["a", "b", "c"]) await charge(id);
  await new Promise((resolve) => setTimeout(resolve, 1_100));
  for (const id of ["d", "e"]) await charge(id);
  await new Promise((resolve) => setTimeout(resolve, 1_100));
  const input = { now: true, delaySeconds: 0, slicePayments: 2 };
  // Once it has kept what it found of the first slice.
  const killed = Promise.withResolvers<void>();
  stack.objects.faults.add(
    { method: "PUT", key: checkpoint },
    {
      kind: "hook",
      at: "applied",
      run() {
        reconciler?.kill();
        killed.resolve();
      },
    },
  );
  expect(await reconciler?.invoke(input)).toMatchObject({ ok: false, reason: "crash" });
  await killed.promise;
  // The timer goes on with it.
  const report = () => [...stack.objects.objects].find(([key]) => key.includes("/reports/"))?.[1];
  await vi.waitUntil(() => report() !== undefined, PATIENCE_MS);
  const found = (text = "{}") =>
    (JSON.parse(text) as { findings: { messageId: string }[] }).findings.map(
      (one) => one.messageId,
    );
  expect(found(report()).toSorted()).toEqual(["a", "b", "c", "d", "e"]);

  const answers = await Promise.all([reconciler?.invoke(input), reconciler?.invoke(input)]);
  const ended = answers.map((answer) => JSON.parse(answer?.ok ? answer.payload : "{}") as object);
  expect(ended).toMatchObject([
    { done: true, findings: 5 },
    { done: true, findings: 5 },
  ]);
  expect(await stack.table.items("payment-records")).toEqual([]);
});
