import { Stripe } from "stripe";
import { expect, test } from "vitest";

import { startOperator, until } from "./operator.ts";

type Status = {
  messageId: string;
  state: string;
  next: string;
  deadLetters?: { reason: string; why: string; next: string }[];
  stripe?: { comparison: string; paymentIntents: { status: string }[] };
};

test("status says how a payment ended, and that a further delivery changes nothing", async () => {
  const operator = await startOperator();
  await operator.send("order-1");
  await operator.send("order-2", { paymentMethod: "pm_card_chargeDeclinedInsufficientFunds" });
  await operator.stack.drained(60_000);

  const { code, stdout } = await operator.payments("status", "order-1", "order-2", "--stripe");

  const [paid, declined] = stdout.split("\n\n");
  expect(paid).toMatch(/^order-1\n {2}outcome +succeeded, by attempt 1\n/);
  expect(paid).toMatch(/PaymentIntent +http.+\/v1\/payment_intents\/pi_/);
  expect(paid).toMatch(/first claimed +\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC \(\d+ s ago\)/);
  expect(paid).toMatch(/next +nothing: a further delivery is acknowledged as a duplicate until/);
  expect(paid).toMatch(/at Stripe +succeeded, 1250 eur,/);
  expect(paid).toContain("record and Stripe agree");
  expect(declined).toContain("declined (card_declined, insufficient_funds), by attempt 1");
  expect(code).toBe(0);
});

test("status says what is known of a message that nobody has claimed", async () => {
  const operator = await startOperator();

  const { code, stdout } = await operator.payments("status", "order-1", "--stripe");

  expect(stdout).toContain("none: no attempt has claimed it, or its record has expired");
  expect(stdout).toMatch(/dead-letter queue +not there\n/);
  expect(stdout).toMatch(
    /next +if it is in the queue, it will be claimed; else it was never sent\n/,
  );
  expect(stdout).toMatch(/at Stripe +no PaymentIntent for it: it was not charged\n/);
  expect(code).toBe(0);
});

test("status says why a message was refused, and counts those whose id cannot be read", async () => {
  const operator = await startOperator();
  const { dlqUrl } = operator.stack.queues;
  await operator.send("order-1", { colour: "red" }, dlqUrl);
  await operator.sendBody("not json", dlqUrl);

  const { code, stdout } = await operator.payments("status", "order-1", "order-2");
  const [refused] = await operator.json<Status[]>("status", "order-1");

  const [first, second] = stdout.split("\n\n");
  expect(first).toMatch(
    /dead-letter queue +invalid\/unknown_field: colour is not a field of a payment/,
  );
  expect(first).toMatch(/next +It was never charged\. The sender mends it and sends it again/);
  expect(second).toMatch(
    /dead-letter queue +not there; 1 message in it without a readable id: payments dlq shows them/,
  );
  expect(refused).toMatchObject({
    state: "no record",
    next: expect.stringContaining("The sender mends it") as string,
    deadLetters: [{ reason: "invalid/unknown_field" }],
  });
  expect(code).toBe(0);
});

test("status still tells what it knows when the dead-letter queue cannot be looked through", async () => {
  const operator = await startOperator();
  operator.stack.queue.faults.add(
    { operation: "ReceiveMessage", queue: "payments-dlq", times: Infinity },
    { kind: "refuse", status: 403, code: "AccessDenied", message: "You may not receive." },
  );

  const { code, stdout } = await operator.payments("status", "order-1");

  expect(stdout).toMatch(/dead-letter queue +could not be looked through: You may not receive\.\n/);
  expect(stdout).toContain("if it was refused, it is in the dead-letter queue (payments dlq)");
  expect(code).toBe(0);
});

test("status shows the last error, Stripe's request id and who comes next", async () => {
  const operator = await startOperator({
    env: { BACKOFF_BASE_SECONDS: "60", BACKOFF_CAP_SECONDS: "60" },
  });
  operator.stack.stripe.faults.outage("unavailable");
  await operator.send("order-1");
  await until(async () => (await operator.record("order-1"))?.["leaseExpiresAt"] === 0);

  const { stdout } = await operator.payments("status", "order-1");

  expect(stdout).toContain("none: attempt 1 ended without one");
  expect(stdout).toContain("released by its owner");
  expect(stdout).toMatch(/last error +stripe_unavailable, .+ \(Stripe request req_\w+\)/);
  expect(stdout).toContain("attempt 2 takes over and charges with the same key");
});

test("status --stripe in an outage still tells what the record says, and exits 3", async () => {
  const operator = await startOperator();
  await operator.send("order-1");
  await operator.stack.drained(60_000);
  operator.stack.stripe.faults.outage("unavailable");

  const { code, stdout } = await operator.payments("status", "order-1", "--stripe");

  expect(stdout).toContain("succeeded, by attempt 1");
  expect(stdout).toContain("Stripe did not answer, so the record is all there is: Sorry!");
  expect(code).toBe(3);
});

test("status finds a charge that is not recorded, and exits 3", async () => {
  const operator = await startOperator();
  operator.stack.table.faults.add(
    { operation: "UpdateItem", times: Infinity },
    { kind: "refuse", status: 500, code: "InternalServerError", message: "away" },
  );
  await operator.send("order-1");
  await until(() => operator.charges("order-1") === 1);
  await until(() => operator.lines.some(({ decision }) => decision === "transient"));

  const { code, stdout } = await operator.payments("status", "order-1", "--stripe");

  expect(stdout).toMatch(
    /at Stripe +succeeded, 1250 eur[^]+NOT RECORDED: payments reconcile --repair records it at once/,
  );
  expect(code).toBe(3);
});

test("status finds a double charge that somebody else made, and exits 3", async () => {
  const operator = await startOperator();
  await operator.send("order-1");
  await operator.stack.drained(60_000);
  const { port } = operator.stack.stripe;
  const stripe = new Stripe("sk_test_local", { protocol: "http", host: "127.0.0.1", port });
  await stripe.paymentIntents.create(
    {
      amount: 1250,
      currency: "eur",
      customer: "cus_ada",
      payment_method: "pm_card_visa",
      confirm: true,
      off_session: true,
      metadata: { message_id: "order-1" },
    },
    { idempotencyKey: "another" },
  );

  const [status] = await operator.json<Status[]>("status", "order-1", "--stripe");
  const { code, stdout } = await operator.payments("status", "order-1", "--stripe");

  expect(status).toMatchObject({ state: "completed", stripe: { comparison: "charged_twice" } });
  expect(status?.stripe?.paymentIntents).toHaveLength(2);
  expect(stdout).toContain("CHARGED TWICE: Refund all but one");
  expect(code).toBe(3);
});

test("status finds an id with quotes in it at Stripe", async () => {
  const operator = await startOperator();
  const id = String.raw`a"b\c'd`;
  operator.stack.stripe.setSearchLag(0);
  await operator.send(id);
  await operator.stack.drained(60_000);

  const [status] = await operator.json<Status[]>("status", id, "--stripe");

  expect(status?.stripe).toMatchObject({ comparison: "agree" });
});
