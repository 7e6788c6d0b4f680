import { SendMessageCommand } from "@aws-sdk/client-sqs";
import { expect, test } from "vitest";

import { payment, startOperator, until } from "./operator.ts";

type Status = { messageId: string; place: string; deadLetters?: { reason: string }[] };

// They mostly wait for processes and queues: some at a time.
test.concurrent("status says what became of each message, and whether Stripe agrees", async (context) => {
  const operator = await startOperator({}, context.onTestFinished);
  operator.stack.stripe.setSearchLag(0);
  const quoted = String.raw`a"b\c'd`;
  await operator.send("paid");
  await operator.send("declined", { paymentMethod: "pm_card_chargeDeclinedInsufficientFunds" });
  await operator.send("debit", { paymentMethod: "pm_usBankAccount_processing" });
  await operator.send(quoted);
  await operator.stack.drained(60_000);

  const ids = ["paid", "declined", "debit", quoted];
  const { code, stdout } = await operator.payments("status", ...ids, "--stripe");
  await operator.charge({ message_id: "paid" }); // another integration
  const twice = await operator.payments("status", "paid", "--stripe");

  const [paid, declined, debit, fourth] = stdout.split("\n\n");
  expect(paid).toMatch(/^paid\n {2}outcome +succeeded, by attempt 1\n/);
  expect(paid).toMatch(/PaymentIntent +http.+\/v1\/payment_intents\/pi_/);
  expect(paid).toMatch(/at Stripe +succeeded, 1250 eur,/);
  expect(paid).toContain("record and Stripe agree");
  expect(declined).toContain("declined (card_declined, insufficient_funds), by attempt 1");
  expect(debit).toMatch(/outcome +processing, by attempt 1\n/);
  expect(fourth).toContain("record and Stripe agree");
  expect(code).toBe(0);
  expect(twice.stdout.match(/succeeded, 1250 eur/g)).toHaveLength(2);
  expect(twice.stdout).toContain("CHARGED TWICE: Refund all but one");
  expect(twice.code).toBe(3);
});

test.concurrent("status says what waits in the dead-letter queue, and still what it knows when that cannot be read", async (context) => {
  const operator = await startOperator({}, context.onTestFinished);
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
  const late = await operator.json<Status[]>("status", MessageId);
  operator.stack.queue.faults.add(
    { operation: "ReceiveMessage", queue: "payments-dlq", times: Infinity },
    { kind: "refuse", status: 403, code: "AccessDenied", message: "You may not receive." },
  );
  const denied = await operator.payments("status", "nosuch");

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
  expect(late).toMatchObject([
    { messageId: "late", place: "dead-letter queue", deadLetters: [{ reason: "unclaimed" }] },
  ]);
  expect(denied.stdout).toMatch(/dead-letter queue +could not be read: You may not receive\.\n/);
  expect([code, denied.code]).toEqual([3, 0]);
});

test.concurrent("status shows the last error, where the message is and who comes next; during an outage, and with a rejected key, the record alone", async (context) => {
  const env = { BACKOFF_BASE_SECONDS: "60", BACKOFF_CAP_SECONDS: "60" };
  const operator = await startOperator({ env }, context.onTestFinished);
  const outage = operator.stack.stripe.faults.outage("unavailable");
  await operator.send("order-1");
  await until(async () => (await operator.record("order-1"))?.["leaseExpiresAt"] === 0);

  const { stdout, code } = await operator.payments("status", "order-1", "--stripe");
  const alone = await operator.payments("status", "order-1", "--record-only");
  outage.remove();
  operator.stack.stripe.keys.revoke("sk_test_local");
  const rejected = await operator.payments("status", "order-1", "--stripe");

  expect(stdout).toContain("none: attempt 1 ended without one");
  expect(stdout).toContain("released by its owner");
  expect(stdout).toMatch(/last error +stripe_unavailable, .+ \(Stripe request req_\w+\)/);
  expect(stdout).toMatch(/\n {2}queue +0 visible, 1 in flight, 0 delayed\n/);
  expect(stdout).toMatch(
    /next +if it is in the queue, with the next delivery, attempt 2 takes over and charges with/,
  );
  expect(stdout).toContain("Stripe is not available, so this is the record alone: Sorry!");
  expect(alone.stdout).not.toContain("in flight");
  expect(alone.stdout).toContain(
    "If the message is in the dead-letter queue (payments dlq): Redrive",
  );
  expect(rejected.stdout).toContain(
    "Stripe did not accept the call, so this is the record alone: Expired API Key",
  );
  expect([code, rejected.code]).toEqual([3, 3]);
});
