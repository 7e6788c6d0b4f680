// What became of a payment: Stripe's events reach the finalizer late, early, doubled, out of order and
// from others, and the record only moves forward.

import { expect, onTestFinished, test } from "vitest";

import { createSqs } from "../../lib/aws/clients.ts";
import { recordedOutcomes } from "../../lib/aws/recorded-outcomes.ts";
import type { LogLine } from "../../lib/lambda/emf.ts";
import { createFinalizerHandler } from "../../lib/lambda/finalizer-handler.ts";
import type { OutcomeEvent } from "../../lib/outcomes/event.ts";
import type { PaymentNotice } from "../../lib/outcomes/notice.ts";
import { fixedKey } from "../../lib/stripe/api-key.ts";
import { stripePayments } from "../../lib/stripe/payments.ts";
import { CONTEXT, sqsEvent } from "../support/sqs-event.ts";
import { startWorker, payment } from "../support/worker.ts";

/** A worker, and a finalizer on the same table and Stripe. */
async function prepare() {
  const worker = await startWorker();
  const { stripe, documents, queue, queueUrl, timings, clock, aws } = worker;
  const events: object[] = [];
  onTestFinished(stripe.onEvent(({ event }) => void events.push(event)));
  const lines: LogLine[] = [];
  const notices: (OutcomeEvent | PaymentNotice)[] = [];
  const handler = createFinalizerHandler({
    payments: stripePayments(fixedKey("sk_test_local"), new URL(stripe.url)),
    records: recordedOutcomes(documents, "records"),
    bus: {
      async publish(sent) {
        notices.push(...sent);
        return sent.map(() => undefined);
      },
    },
    source: "urn:payment-worker:test",
    mode: "test",
    queue: { client: createSqs({ ...aws, endpoint: queue.url }), url: queueUrl },
    functionName: "payment-finalizer",
    timings,
    now: () => clock.now,
    random: () => 0.5,
    write: (line) => lines.push(line),
  });

  /** Delivers these events as one batch; answers with the decisions, and with what was not acknowledged. */
  const deliver = async (...bodies: unknown[]) => {
    lines.length = 0;
    const sent = bodies.map((body, index) => ({
      name: String(index),
      body: typeof body === "string" ? body : JSON.stringify(body),
    }));
    const answer = await handler(sqsEvent(...sent), CONTEXT).catch(({ name }: Error) => name);
    const failed = typeof answer === "string" ? answer : answer.batchItemFailures;
    // The visibility timeouts of messages that are in no queue.
    const own = lines.filter((line) => line["decision"] !== undefined);
    return { decisions: own.map(({ decision }) => decision), failed, lines: own };
  };
  const intentId = () => stripe.paymentIntents()[0]?.id ?? "";
  return { ...worker, pay: worker.deliver, events, deliver, intentId, notices };
}

const after = (result: string, revision: number) => ({ outcome: { result }, revision });
const DEBIT = payment({ paymentMethod: "pm_usBankAccount_success" });

test("a bank debit that arrives is succeeded, one revision later", async () => {
  const { deliver, events, intentId, record, stripe, clock, pay } = await prepare();
  await pay(DEBIT);
  expect(await record("order-1001")).toMatchObject(after("processing", 1));
  clock.now += 3 * 86_400_000;
  stripe.step(intentId(), "succeed");
  expect(await deliver(events.at(-1))).toMatchObject({ decisions: ["advanced"], failed: [] });
  expect(await record("order-1001")).toMatchObject({
    status: "COMPLETED",
    outcome: { result: "succeeded", paymentIntentId: intentId() },
    revision: 2,
    completedAt: clock.now,
    amount: 1200,
    currency: "eur",
  });
});

test("a bank debit that bounces is failed with its code, and may still succeed", async () => {
  const { deliver, events, intentId, record, stripe, pay } = await prepare();
  await pay(DEBIT);
  stripe.step(intentId(), "fail");
  expect((await deliver(events.at(-1))).decisions).toEqual(["advanced"]);
  expect(await record("order-1001")).toMatchObject({
    outcome: {
      result: "failed",
      code: "payment_intent_payment_attempt_failed",
      declineCode: "insufficient_funds",
    },
    revision: 2,
  });
  stripe.step(intentId(), "succeed");
  await deliver(events.at(-1));
  expect(await record("order-1001")).toMatchObject(after("succeeded", 3));
});

test("an authentication that nobody finishes ends as canceled", async () => {
  const { deliver, events, intentId, record, stripe, pay } = await prepare();
  await pay(payment({ paymentMethod: "pm_usBankAccount_failMicrodeposits" }));
  expect(await record("order-1001")).toMatchObject({ outcome: { result: "requires_action" } });
  expect((await deliver(events.at(-1))).decisions).toEqual(["duplicate"]); // nothing precedes it
  stripe.step(intentId(), "cancel");
  expect((await deliver(events.at(-1))).decisions).toEqual(["advanced"]);
  expect(await record("order-1001")).toMatchObject({ outcome: { result: "canceled" } });
});

test("events three times, in any order, and in one batch move the record once", async () => {
  const { deliver, events, intentId, record, stripe, pay } = await prepare();
  await pay(DEBIT);
  stripe.step(intentId(), "succeed");
  const [processing, succeeded] = events;
  const { decisions } = await deliver(succeeded, processing, succeeded);
  expect(decisions).toEqual(["advanced", "advanced", "advanced"]);
  expect((await deliver(processing, succeeded)).decisions).toEqual(["duplicate", "duplicate"]);
  expect(await record("order-1001")).toMatchObject(after("succeeded", 2));
  // One question to Stripe per batch and payment.
  expect(stripe.ledger.requests().filter(({ method }) => method === "GET")).toHaveLength(2);
});

test("an event that is early comes back, and the worker's outcome stays the first", async () => {
  const { deliver, events, intentId, record, stripe, table, pay, clock, redeliver } =
    await prepare();
  table.faults.add({ operation: "UpdateItem", times: 3 }, { kind: "dropBefore" });
  await pay(DEBIT);
  stripe.step(intentId(), "succeed");
  const early = await deliver(events.at(-1));
  expect(early.decisions).toEqual(["in_progress"]);
  expect(early.failed).toEqual([{ itemIdentifier: "sqs-0" }]);
  clock.now += 3_600_000;
  await redeliver();
  expect(await record("order-1001")).toMatchObject(after("processing", 1));
  expect((await deliver(events.at(-1))).decisions).toEqual(["advanced"]);
});

test("a late copy of complete does not undo what has moved forward since", async () => {
  const { deliver, events, intentId, record, stripe, table, pay } = await prepare();
  // The worker's update is applied, an event moves it forward, and the reply is lost: the SDK sends a
  // second copy of it.
  const where = ({ update }: { update?: string }) => update?.includes("REMOVE lastError") === true;
  const moveForward = async () => {
    stripe.step(intentId(), "succeed");
    await deliver(events.at(-1));
  };
  table.faults.add({ where }, { kind: "hook", at: "applied", run: moveForward });
  table.faults.add({ where }, { kind: "dropAfter" });
  const { lines } = await pay(DEBIT);
  expect(lines[0]).toMatchObject({ decision: "completed" });
  expect(await record("order-1001")).toMatchObject(after("succeeded", 2));
});

test("another integration's PaymentIntent, and a type of no concern, are acknowledged", async () => {
  const { deliver, events, chargeElsewhere } = await prepare();
  expect((await chargeElsewhere({})).status).toBe(200);
  const other = { ...(events.at(-1) as { id: string }), type: "customer.updated" };
  expect(await deliver(events.at(-1), other)).toMatchObject({
    decisions: ["foreign", "ignored"],
    failed: [],
  });
});

test("a record that is gone is reported, and not made anew", async () => {
  const { deliver, events, intentId, record, stripe, table, pay } = await prepare();
  await pay(DEBIT);
  await table.deleteExpired(Date.parse("2027-01-04T00:00:00Z") / 1_000);
  stripe.step(intentId(), "succeed");
  const { decisions, lines } = await deliver(events.at(-1));
  expect(decisions).toEqual(["unmatched"]);
  expect(lines[0]).toMatchObject({ level: "WARN", messageId: "order-1001", Unmatched: 1 });
  expect(await record("order-1001")).toBeUndefined();
});

test("a second PaymentIntent under a message id is a double charge, and changes nothing", async () => {
  const { deliver, events, intentId, record, stripe, pay, chargeElsewhere } = await prepare();
  await pay(payment());
  const first = intentId();
  await chargeElsewhere({ "metadata[message_id]": "order-1001" });
  const second = stripe.paymentIntents()[1]?.id;
  const { decisions, failed, lines } = await deliver(events.at(-1));
  expect(decisions).toEqual(["double_charge"]);
  expect(failed).toEqual([]);
  expect(lines[0]).toMatchObject({
    level: "ERROR",
    messageId: "order-1001",
    recorded: first,
    found: second,
    DoubleCharge: 1,
  });
  expect(await record("order-1001")).toMatchObject({
    outcome: { result: "succeeded", paymentIntentId: first },
    revision: 1,
  });
});

test("a final result that Stripe contradicts goes to the dead-letter queue", async () => {
  const { deliver, events, intentId, record, pay, put } = await prepare();
  await pay(payment());
  const canceled = { result: "canceled", paymentIntentId: intentId() };
  await put({ ...(await record("order-1001")), outcome: canceled });
  const { decisions, failed, lines } = await deliver(events.at(-1));
  expect(decisions).toEqual(["contradiction"]);
  expect(failed).toEqual([{ itemIdentifier: "sqs-0" }]);
  expect(lines[0]).toMatchObject({ recorded: "canceled", found: "succeeded", Contradiction: 1 });
  expect(await record("order-1001")).toMatchObject({ outcome: canceled });
});

test("a refund is reported, the same one once, and changes no outcome", async () => {
  const { deliver, events, intentId, record, stripe, notices, pay } = await prepare();
  await pay(payment());
  stripe.refund(intentId(), 200);
  expect((await deliver(events.at(-1), events.at(-1))).decisions).toEqual(["reported", "reported"]);
  expect(notices).toEqual([
    {
      specversion: "1.0",
      id: "order-1001:refunded:200",
      source: "urn:payment-worker:test",
      type: "payment.refunded",
      subject: "order-1001",
      datacontenttype: "application/json",
      data: {
        messageId: "order-1001",
        paymentIntentId: intentId(),
        amountRefunded: 200,
        currency: "eur",
      },
    },
  ]);
  expect(await record("order-1001")).toMatchObject(after("succeeded", 1));
});

test("an event of the other mode, and a body that is no event, go to the dead-letter queue", async () => {
  const { deliver, events, pay } = await prepare();
  await pay(payment());
  const live = { ...(events[0] as object), livemode: true };
  expect(await deliver(live, "hello")).toMatchObject({
    decisions: ["invalid", "invalid"],
    failed: [{ itemIdentifier: "sqs-0" }, { itemIdentifier: "sqs-1" }],
  });
});

test.each([
  ["server_error", "stripe_unavailable"],
  ["rate_limit", "stripe_rate_limited"],
] as const)("while Stripe answers %s, the event comes back", async (error, kind) => {
  const { deliver, events, stripe, pay } = await prepare();
  await pay(payment());
  stripe.faults.add({ method: "GET" }, { kind: "refuse", error });
  const { decisions, failed, lines } = await deliver(events[0]);
  expect(decisions).toEqual(["transient"]);
  expect(lines[0]).toMatchObject({ kind });
  expect(failed).toBe("Unavailable"); // all of the batch: the poller slows down
});

test("an event from before the upgrade's record moves it to revision 2", async () => {
  const { deliver, events, intentId, record, stripe, pay, put } = await prepare();
  await pay(DEBIT);
  const item = await record("order-1001");
  const { revision: _r, completedAt: _c, amount: _a, currency: _u, ...old } = item ?? {};
  await put(old);
  stripe.step(intentId(), "succeed");
  await deliver(events.at(-1));
  expect(await record("order-1001")).toMatchObject({
    outcome: { result: "succeeded" },
    revision: 2,
    amount: 1200,
    currency: "eur",
  });
});
