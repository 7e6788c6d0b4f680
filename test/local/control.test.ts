// Breaking a running stack, at its control; npm run break itself is in test/scripts and the runbook's test.
import { fileURLToPath } from "node:url";

import { expect, onTestFinished, test } from "vitest";

import { createControl } from "../../local/control/control.ts";
import { SWITCHES } from "../../local/control/switches.ts";
import { paymentWorker } from "../../local/payment-worker.ts";
import type { StackEvent } from "../../local/stack-event.ts";
import { startStack } from "../../local/stack.ts";

const SCRIPTED = fileURLToPath(new URL("../fixtures/scripted-handler.cjs", import.meta.url));

async function prepare() {
  const stack = await startStack({
    functions: [paymentWorker({}, SCRIPTED)],
    stripeKeys: ["sk_test_local"],
  });
  onTestFinished(() => stack.stop());
  const events: StackEvent[] = [];
  stack.feed.subscribe((event) => void events.push(event));
  const stripe = (path: string, body?: Record<string, string>, key = "sk_test_local") =>
    fetch(`${stack.stripe.url}/v1/${path}`, {
      method: body ? "POST" : "GET",
      headers: { authorization: `Bearer ${key}` },
      ...(body && { body: new URLSearchParams(body) }),
    });
  const pay = (payment_method: string, id: string) =>
    stripe("payment_intents", {
      amount: "1250",
      currency: "usd",
      customer: "cus_ada",
      payment_method,
      confirm: "true",
      off_session: "true",
      "metadata[message_id]": id,
    });
  return { stack, events, control: createControl(stack), stripe, pay };
}

test("a fault with a count ends by itself, and one without when it is ended; the feed has each change", async () => {
  const { control, stripe, events } = await prepare();
  const status = async () => (await stripe("payment_intents")).status;

  expect(await control.start({ name: "outage", times: 2 })).toMatch(
    /^Stripe answers.+ It ends 2 times\.$/,
  );
  expect([await status(), control.on()[0]?.left, await status(), await status()]).toEqual([
    503, 1, 503, 200,
  ]);
  expect(control.on()).toEqual([]);

  await control.start({ name: "key" });
  await control.start({ name: "slow", argument: "1" });
  expect(await status()).toBe(401);
  expect(control.end("key")).toMatchObject([{ name: "key", argument: "", happened: 1 }]);
  expect([await status(), control.on().map(({ name }) => name)]).toEqual([200, ["slow"]]);
  control.end();
  expect(control.end()).toEqual([]);

  const switched = events.filter((event) => event.type === "switched");
  expect(switched.map(({ on }) => on.map(({ name }) => name).join())).toEqual([
    "outage",
    "key",
    "key,slow",
    "slow",
    "",
  ]);
});

test("a queue that is broken gives nothing out, not to a receive that has waited for it either", async () => {
  const { stack, control } = await prepare();
  const waiting = () =>
    stack.queue
      .requests()
      .filter(({ operation, result }) => operation === "ReceiveMessage" && result === "pending");
  await expect.poll(waiting, { timeout: 10_000 }).not.toEqual([]);

  await control.start({ name: "queue" });
  expect(waiting()).toEqual([]);
  const { queueUrl: QueueUrl } = stack.queues;
  await fetch(stack.queue.url, {
    method: "POST",
    headers: {
      "content-type": "application/x-amz-json-1.0",
      "x-amz-target": "AmazonSQS.SendMessage",
    },
    body: JSON.stringify({ QueueUrl, MessageBody: "{}" }),
  });
  expect(await stack.queue.depth(QueueUrl)).toMatchObject({ visible: 1, inFlight: 0 });
});

test("a fault with an end in time ends then", async () => {
  const { control, stack, events } = await prepare();
  await control.start({ name: "throttle", forMs: 20 });
  expect(await stack.worker.invoke({})).toMatchObject({ ok: false, reason: "throttle" });
  await expect.poll(() => control.on()).toEqual([]);
  expect(events.at(-1)).toMatchObject({ type: "switched", on: [] });
  expect(await stack.worker.invoke({ Records: [] })).not.toMatchObject({ reason: "throttle" });
});

test.each<[Parameters<ReturnType<typeof createControl>["start"]>[0], RegExp]>([
  [{ name: "toString" }, /^"toString" is not one of outage, slow, /],
  [{ name: "outage", argument: "total" }, /^"total" is not one of unreachable\.$/],
  [{ name: "slow", argument: "-1" }, /^"-1" is not an integer from 1 to 600000\.$/],
  [{ name: "lost-reply", argument: "x" }, /^lost-reply takes no argument\.$/],
  [{ name: "crash" }, /^crash needs ID, a message id\.$/],
  [{ name: "mode", times: 2 }, /^mode cannot happen 2 times\.$/],
  [{ name: "outage", times: 0 }, /^outage cannot happen 0 times\.$/],
  [{ name: "outage", forMs: NaN }, /^It can last from a moment to 24 h\.$/],
  [{ name: "kill", forMs: 1 }, /^kill is done at once: it has no end\.$/],
  [{ name: "kill" }, /^No process runs now\.$/],
  [{ name: "freeze", argument: "order-1" }, /^No process is at work on order-1 now\.$/],
  [{ name: "kill", argument: String(process.pid) }, /^No process is at work on \d+ now\.$/],
  [{ name: "throttle", argument: "x" }, /^"x" is not a function: payment-worker\.$/],
  [{ name: "refund", argument: "order-1" }, /^Stripe has no payment for order-1\.$/],
  [{ name: "backdate", argument: "order-1" }, /^There is no record of order-1\.$/],
  [{ name: "age", argument: "x" }, /^"x" is not one of payments, payments-dlq\.$/],
])("%o is answered with a sentence, and breaks nothing", async (order, sentence) => {
  const { control } = await prepare();
  await expect(control.start(order)).rejects.toThrow(sentence);
  expect(control.on()).toEqual([]);
});

test("a payment is moved on at Stripe by its message id, as far as its status allows", async () => {
  const { control, stack, pay } = await prepare();
  const types: string[] = [];
  stack.stripe.onEvent(({ event }) => void types.push(event.type));
  await pay("pm_usBankAccount_success", "bank");
  await pay("pm_usBankAccount_success", "bounced");
  await pay("pm_card_visa", "card");
  const run = (name: string, argument: string) => control.start({ name, argument });

  expect(await run("settle", "bank")).toMatch(/^pi_\w+ is succeeded now\.$/);
  expect(await run("fail", "bounced")).toMatch(/^pi_\w+ is requires_payment_method now\.$/);
  expect(await run("cancel", "bounced")).toMatch(/^pi_\w+ is canceled now\.$/);
  await expect(run("cancel", "card")).rejects.toThrow(/is succeeded, from which it cannot cancel/);
  await expect(run("refund", "bounced")).rejects.toThrow(/is canceled, not succeeded/);
  await run("refund", "card");
  await run("dispute", "card");

  expect(types.slice(3)).toEqual([
    "payment_intent.succeeded",
    "payment_intent.payment_failed",
    "payment_intent.canceled",
    "charge.refunded",
    "charge.dispute.created",
  ]);
});

test("what is deployed with another variable starts anew with it, and again without it", async () => {
  const { control, stack } = await prepare();
  stack.worker.provision();
  await control.start({ name: "mode" });
  expect(stack.worker.env["STRIPE_MODE"]).toBe("live");
  control.end();
  expect(stack.worker.env).not.toHaveProperty("STRIPE_MODE");
});

test("the keys that were issued work, and a wrong one gets 401", async () => {
  const { stripe } = await prepare();
  expect((await stripe("payment_intents")).status).toBe(200);
  const wrong = await stripe("payment_intents", undefined, "sk_test_wrong");
  expect([wrong.status, await wrong.json()]).toMatchObject([
    401,
    { error: { message: "Invalid API Key provided: sk_test_*rong" } },
  ]);
});

test("every switch says in sentences what it does, and how it ends unless it is done at once", () => {
  for (const [name, one] of Object.entries(SWITCHES)) {
    expect([name, one.does]).toEqual([name, expect.stringMatching(/^\S.+\.$/)]);
    expect([name, "act" in one]).toEqual([name, one.ends === undefined]);
  }
});
