import { SendMessageCommand } from "@aws-sdk/client-sqs";
import { expect, test } from "vitest";

import { payment, startOperator, until } from "./operator.ts";

type Redrive = {
  moved: number;
  problems: string[];
  messages: { messageId?: string; ended: string; sentence: string }[];
};

const QUICK = { maxReceiveCount: 2, env: { BACKOFF_CAP_SECONDS: "1" } };

/** So many payments in the dead-letter queue, which nobody has claimed yet. */
async function prepare(count: number) {
  const operator = await startOperator(QUICK);
  const { dlqUrl } = operator.stack.queues;
  for (let n = 1; n <= count; n += 1) await operator.send(`order-${n}`, {}, dlqUrl);
  return operator;
}

test("redrive without a terminal and without --yes shows what would go where, and moves nothing", async () => {
  const operator = await startOperator(QUICK);
  operator.stack.stripe.faults.outage("unavailable");
  await operator.send("order-1");
  await operator.deadLetters(1);

  const { code, stdout, stderr } = await operator.payments("redrive", "--all");

  expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
  expect(stderr).toContain(`from  ${operator.stack.queues.dlqUrl}`);
  expect(stderr).toContain(`to    ${operator.stack.queues.queueUrl}`);
  expect(stderr).toMatch(
    /\n1 message {3}stripe_unavailable\/\w+\n {2}Stripe did not answer, .+\n {2}Redrive when Stripe is well: .+\n {2}order-1\n/,
  );
  expect(stderr).toContain("Move 1 message? There is no terminal to ask at");
  expect(await operator.stack.queue.depth(operator.stack.queues.dlqUrl)).toMatchObject({
    visible: 1,
  });
});

test("redrive --id moves this message and no other, and says that it was charged", async () => {
  const operator = await prepare(3);

  const { code, stdout } = await operator.payments("redrive", "--id", "order-2", "--yes");

  expect(stdout).toMatch(/\norder-2 +with an outcome +succeeded\n/);
  expect(stdout).toContain(
    "1 message moved: 1 with an outcome, 0 back in the dead-letter queue, 0 still open.",
  );
  expect(code).toBe(0);
  expect(await operator.stack.queue.depth(operator.stack.queues.dlqUrl)).toEqual({
    visible: 2,
    inFlight: 0,
    delayed: 0,
  });
  expect(["order-1", "order-2", "order-3"].map(operator.charges)).toEqual([0, 1, 0]);
});

test("redrive --all moves everything by SQS's own task, also what was sent straight to the dead-letter queue", async () => {
  const operator = await prepare(12);

  const result = await operator.json<Redrive>("redrive", "--all", "--yes");

  expect(result).toMatchObject({ moved: 12, problems: [] });
  expect(result.messages.every(({ ended }) => ended === "outcome")).toBe(true);
  expect(operator.stack.queue.counts()).toMatchObject({ StartMessageMoveTask: 1 });
  expect(operator.stack.stripe.ledger.totals().charges).toBe(12);
});

test("redrive --reason moves those with this reason, and they come back with it when nothing was mended", async () => {
  const operator = await prepare(1);
  await operator.send("order-2", { currency: "xxx" });
  await operator.deadLetters(2);

  const { code, stdout } = await operator.payments("redrive", "--reason", "invalid", "--yes");

  expect(stdout).toMatch(/\norder-2 +back in the dead-letter queue +invalid\/currency: currency/);
  expect(code).toBe(3);
  expect(operator.charges("order-1")).toBe(0);
});

test("a conflict that is redriven comes back: the first payment's outcome is not its own", async () => {
  const operator = await startOperator(QUICK);
  await operator.send("order-1");
  await operator.stack.drained(60_000);
  await operator.send("order-1", { amount: 700 });
  await operator.deadLetters(1);

  const result = await operator.json<Redrive>("redrive", "--all", "--yes");

  expect(result.messages).toMatchObject([{ messageId: "order-1", ended: "back" }]);
  expect(operator.charges("order-1")).toBe(1);
});

test("redrive --limit moves the oldest of them", async () => {
  const operator = await startOperator(QUICK);
  for (const id of ["order-1", "order-2", "order-3"]) {
    await operator.send(id, {}, operator.stack.queues.dlqUrl);
    await new Promise((resolve) => setTimeout(resolve, 2)); // SQS's clock counts whole ms
  }

  const result = await operator.json<Redrive>("redrive", "--all", "--limit", "2", "--yes");

  expect(result.messages.map(({ messageId }) => messageId)).toEqual(["order-1", "order-2"]);
  expect(operator.stack.queue.counts()).not.toHaveProperty("StartMessageMoveTask");
  expect(operator.charges("order-3")).toBe(0);
});

test("redrive sends before it deletes: with the delete lost, the message is twice there and charged once", async () => {
  const operator = await prepare(1);
  const { faults } = operator.stack.queue;
  const lost = faults.add(
    { operation: "DeleteMessage", queue: "payments-dlq", times: Infinity },
    { kind: "dropBefore" },
  );

  const { stderr } = await operator.payments("redrive", "--id", "order-1", "--yes");
  lost.remove();
  const again = await operator.json<Redrive>("redrive", "--id", "order-1", "--yes");
  await operator.stack.drained(60_000);

  expect(lost.happened()).toBeGreaterThan(0);
  expect(stderr).toContain("1 message could not be deleted and are in both queues");
  expect(again.messages).toMatchObject([{ ended: "outcome", sentence: "succeeded" }]);
  expect(operator.charges("order-1")).toBe(1);
  expect(await operator.stack.queue.messages(operator.stack.queues.dlqUrl)).toEqual([]);
});

test("redrive keeps a message when the destination does not take it", async () => {
  const operator = await prepare(1);
  operator.stack.queue.faults.add(
    { operation: "SendMessage", times: Infinity },
    { kind: "refuse", status: 400, code: "KmsDisabled", message: "The key is disabled." },
  );

  const { code, stderr } = await operator.payments("redrive", "--id", "order-1", "--yes");

  expect(stderr).toContain("order-1 stayed: The key is disabled.");
  expect(code).toBe(3);
  expect(await operator.stack.queue.depth(operator.stack.queues.dlqUrl)).toMatchObject({
    visible: 1,
  });
});

test("redrive keeps a message's attributes, which decide whether it is read", async () => {
  const operator = await startOperator(QUICK);
  const { dlqUrl } = operator.stack.queues;
  await operator.sqs.send(
    new SendMessageCommand({
      QueueUrl: dlqUrl,
      MessageBody: JSON.stringify(payment("order-1")),
      MessageAttributes: { "bq-schema-version": { DataType: "Number", StringValue: "2" } },
    }),
  );

  const result = await operator.json<Redrive>("redrive", "--all", "--limit", "1", "--yes");

  expect(result.messages[0]).toMatchObject({ ended: "back" });
  expect(result.messages[0]?.sentence).toContain("invalid/schema_version");
});

test("redrive --to sets messages aside in another queue, and waits for nothing", async () => {
  const operator = await prepare(2);
  const aside = await operator.stack.queue.createQueues({
    name: "answered",
    visibilityTimeoutSeconds: 30,
    maxReceiveCount: 5,
  });

  const result = await operator.json<Redrive>(
    "redrive",
    "--id",
    "order-1",
    "--to",
    aside.queueUrl,
    "--yes",
  );

  expect(result).toEqual({ moved: 1, problems: [], messages: [] });
  expect(await operator.stack.queue.depth(aside.queueUrl)).toMatchObject({ visible: 1 });
});

test("Ctrl-C during redrive --all cancels SQS's task, and nothing is lost", async () => {
  const operator = await prepare(6);
  const { dlqUrl, queueUrl } = operator.stack.queues;

  const { child, finished } = operator.command("redrive", "--all", "--rate", "1", "--yes");
  await until(() => operator.stack.queue.counts()["StartMessageMoveTask"] === 1);
  child.kill("SIGINT");
  const { code, stderr } = await finished;

  expect(code).toBe(130);
  expect(stderr).toMatch(
    /SQS's move task ended as CANCELLED: it was interrupted; about \d messages?/,
  );
  const left = await operator.stack.queue.messages(dlqUrl);
  expect(left.length).toBeGreaterThan(0);
  await operator.stack.drained(60_000);
  expect(operator.stack.stripe.ledger.totals().charges + left.length).toBe(6);
  expect(await operator.stack.queue.messages(queueUrl)).toEqual([]);
});

test("redrive shows as many names as fit into a line", async () => {
  const operator = await startOperator();
  const { dlqUrl } = operator.stack.queues;
  const ids = ["a", "b", "c"].map((letter) => letter.repeat(47));
  for (const id of ids) {
    await operator.send(id, {}, dlqUrl);
    await new Promise((resolve) => setTimeout(resolve, 2)); // SQS's clock counts whole ms
  }

  const { stderr } = await operator.payments("redrive", "--all");

  expect(stderr).toContain(`\n  ${ids[0]}, ${ids[1]}, …\n`);
});

test("redrive --reason that nobody there has names the reasons that there are", async () => {
  const operator = await prepare(1);

  const { code, stderr } = await operator.payments("redrive", "--reason", "invalid");

  expect(stderr).toBe(
    "Nothing to move: 1 message in the dead-letter queue, none chosen. The reasons there: unclaimed.\n",
  );
  expect(code).toBe(0);
});

test.each([
  [[], "Say which messages to move: --id, --reason or --all."],
  [["--all", "--id", "a"], "Say which messages to move: --id, --reason or --all."],
  [["--all", "--limit", "0"], '--limit must be an integer from 1 to 999999, not "0".'],
  [["--all", "--rate", "501"], '--rate must be an integer from 1 to 500, not "501".'],
  [
    ["--reason", "nonsense"],
    '--reason "nonsense" is none that a dead letter can have: invalid, conflict, stripe_unavailable, stripe_rate_limited, stripe_key_in_use, stripe_configuration, stripe_rejected, stripe_lookup, table_unavailable, deadline, unexpected, died, unclaimed, completed, in_progress, and',
  ],
  [["order-1"], '"order-1" is not an option of redrive: use --id.'],
])("redrive %j is called wrongly", async (args, sentence) => {
  const operator = await startOperator();

  const { code, stderr } = await operator.payments("redrive", ...args);

  expect(code).toBe(2);
  expect(stderr).toContain(sentence);
});
