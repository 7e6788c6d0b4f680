import { SendMessageCommand } from "@aws-sdk/client-sqs";
import { Stripe } from "stripe";
import { expect, test } from "vitest";

import { payment, startOperator, until } from "./operator.ts";

type Status = {
  messageId: string;
  state: string;
  place: string;
  next: string;
  deadLetters?: { reason: string; why: string; next: string }[];
  stripe?: { comparison: string; paymentIntents: { status: string }[] };
};

// They mostly wait for processes and queues: some at a time.
test.concurrent("status says what became of each message, and what comes next", async ({
  onTestFinished,
}) => {
  const operator = await startOperator({}, onTestFinished);
  await operator.send("paid");
  await operator.send("declined", { paymentMethod: "pm_card_chargeDeclinedInsufficientFunds" });
  await operator.send("debit", { paymentMethod: "pm_usBankAccount_processing" });
  await operator.stack.drained(60_000);

  const { code, stdout } = await operator.payments(
    "status",
    "paid",
    "declined",
    "debit",
    "--stripe",
  );

  const [paid, declined, debit] = stdout.split("\n\n");
  expect(paid).toMatch(/^paid\n {2}outcome +succeeded, by attempt 1\n/);
  expect(paid).toMatch(/PaymentIntent +http.+\/v1\/payment_intents\/pi_/);
  expect(paid).toMatch(/first claimed +\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC \(\d+ s ago\)/);
  expect(paid).toMatch(
    /next +nothing\. A further delivery is acknowledged as a duplicate until \d{4}-/,
  );
  expect(paid).toMatch(/at Stripe +succeeded, 1250 eur,/);
  expect(paid).toContain("record and Stripe agree");
  expect(declined).toContain("declined (card_declined, insufficient_funds), by attempt 1");
  expect(declined).toMatch(/next +nothing: it was not paid, and a new try is a new message/);
  expect(debit).toMatch(/next +nothing here: it is not paid yet, which may take days/);
  expect(code).toBe(0);
});

test.concurrent("status says what waits in the dead-letter queue: a conflict of a paid message, and what is invalid", async ({
  onTestFinished,
}) => {
  const operator = await startOperator({}, onTestFinished);
  const { dlqUrl } = operator.stack.queues;
  await operator.send("paid");
  await operator.stack.drained(60_000);
  await operator.send("paid", { amount: 700 }, dlqUrl);
  await operator.send("invalid", { colour: "red" }, dlqUrl);
  await operator.sendBody("not json", dlqUrl);

  const { code, stdout } = await operator.payments("status", "paid", "invalid", "nosuch");
  const { MessageId = "" } = await operator.sqs.send(
    new SendMessageCommand({ QueueUrl: dlqUrl, MessageBody: JSON.stringify(payment("late")) }),
  );
  const [late] = await operator.json<Status[]>("status", MessageId);

  const [paid, invalid, nosuch] = stdout.split("\n\n");
  expect(paid).toContain("succeeded, by attempt 1");
  expect(paid).toMatch(/dead-letter queue +conflict: Its message id was used before/);
  expect(paid).toMatch(/next +The first payment stands\. If both were intended/);
  expect(invalid).toMatch(
    /dead-letter queue +invalid\/unknown_field: colour is not a field of a payment/,
  );
  expect(invalid).toMatch(/next +It was never charged\. The sender fixes it and sends it again/);
  expect(nosuch).toContain("none: not claimed yet, or expired");
  expect(nosuch).toMatch(/\n {2}queue +0 visible, 0 in flight, 0 delayed\n/);
  expect(nosuch).toMatch(
    /dead-letter queue +not there; 1 message in it without a readable id: payments dlq shows them/,
  );
  expect(nosuch).toMatch(/next +it is in neither queue: it was never sent, or not under this id/);
  expect(late).toMatchObject({
    messageId: "late",
    place: "dead-letter queue",
    deadLetters: [{ reason: "unclaimed" }],
  });
  expect(code).toBe(3);
});

test.concurrent("status still says what it knows when the dead-letter queue cannot be read", async ({
  onTestFinished,
}) => {
  const operator = await startOperator({}, onTestFinished);
  operator.stack.queue.faults.add(
    { operation: "ReceiveMessage", queue: "payments-dlq", times: Infinity },
    { kind: "refuse", status: 403, code: "AccessDenied", message: "You may not receive." },
  );

  const { code, stdout } = await operator.payments("status", "order-1");

  expect(stdout).toMatch(/dead-letter queue +could not be read: You may not receive\.\n/);
  expect(stdout).toContain("or is invalid and in the dead-letter queue (payments dlq)");
  expect(code).toBe(0);
});

test.concurrent("status shows the last error, Stripe's request id, where the message is and who comes next", async ({
  onTestFinished,
}) => {
  const operator = await startOperator(
    {
      env: { BACKOFF_BASE_SECONDS: "60", BACKOFF_CAP_SECONDS: "60" },
    },
    onTestFinished,
  );
  operator.stack.stripe.faults.outage("unavailable");
  await operator.send("order-1");
  await until(async () => (await operator.record("order-1"))?.["leaseExpiresAt"] === 0);

  const { stdout } = await operator.payments("status", "order-1");
  const alone = await operator.payments("status", "order-1", "--record-only");

  expect(stdout).toContain("none: attempt 1 ended without one");
  expect(stdout).toContain("released by its owner");
  expect(stdout).toMatch(/last error +stripe_unavailable, .+ \(Stripe request req_\w+\)/);
  expect(stdout).toMatch(/\n {2}queue +0 visible, 1 in flight, 0 delayed\n/);
  expect(stdout).toMatch(
    /next +if it is in the queue, with the next delivery, attempt 2 takes over and charges with/,
  );
  expect(alone.stdout).not.toContain("in flight");
  expect(alone.stdout).toContain(
    "If the message is in the dead-letter queue (payments dlq): Redrive",
  );
});

test.concurrent("status --stripe distinguishes an outage from a rejected key, shows the record in both, and exits 3", async ({
  onTestFinished,
}) => {
  const operator = await startOperator({}, onTestFinished);
  await operator.send("order-1");
  await operator.stack.drained(60_000);
  const outage = operator.stack.stripe.faults.outage("unavailable");

  const unavailable = await operator.payments("status", "order-1", "--stripe");
  outage.remove();
  operator.stack.stripe.keys.revoke("sk_test_local");
  const rejected = await operator.payments("status", "order-1", "--stripe");

  expect(unavailable.stdout).toContain("succeeded, by attempt 1");
  expect(unavailable.stdout).toContain(
    "Stripe is not available, so this is the record alone: Sorry!",
  );
  expect(rejected.stdout).toContain("succeeded, by attempt 1");
  expect(rejected.stdout).toContain(
    "Stripe did not accept the call, so this is the record alone: Expired API Key",
  );
  expect([unavailable.code, rejected.code]).toEqual([3, 3]);
});

test.concurrent("status finds a charge that is not recorded, and exits 3", async ({
  onTestFinished,
}) => {
  const operator = await startOperator({}, onTestFinished);
  operator.stack.table.faults.add(
    { operation: "UpdateItem", times: Infinity },
    { kind: "refuse", status: 500, code: "InternalServerError", message: "away" },
  );
  await operator.send("order-1");
  await until(() => operator.charges("order-1") === 1);
  await until(() => operator.lines.some(({ decision }) => decision === "transient"));

  const { code, stdout } = await operator.payments("status", "order-1", "--stripe");

  expect(stdout).toMatch(/at Stripe +succeeded, 1250 eur/);
  expect(stdout).toContain("NOT RECORDED: payments reconcile --repair records it at once.");
  expect(code).toBe(3);
});

test.concurrent("status finds a double charge that another integration made, and exits 3", async ({
  onTestFinished,
}) => {
  const operator = await startOperator({}, onTestFinished);
  await operator.send("order-1");
  await operator.stack.drained(60_000);
  const { port } = operator.stack.stripe;
  const stripe = new Stripe("sk_test_local", { protocol: "http", host: "127.0.0.1", port });
  await stripe.paymentIntents.create({
    amount: 1250,
    currency: "eur",
    customer: "cus_ada",
    payment_method: "pm_card_visa",
    confirm: true,
    off_session: true,
    metadata: { message_id: "order-1" },
  });

  const { code, stdout } = await operator.payments("status", "order-1", "--stripe");

  expect(stdout.match(/succeeded, 1250 eur/g)).toHaveLength(2);
  expect(stdout).toContain("CHARGED TWICE: Refund all but one");
  expect(code).toBe(3);
});

test.concurrent("status finds an id with quotes in it at Stripe", async ({ onTestFinished }) => {
  const operator = await startOperator({}, onTestFinished);
  const id = String.raw`a"b\c'd`;
  operator.stack.stripe.setSearchLag(0);
  await operator.send(id);
  await operator.stack.drained(60_000);

  const [status] = await operator.json<Status[]>("status", id, "--stripe");

  expect(status?.stripe).toMatchObject({ comparison: "agree" });
});
