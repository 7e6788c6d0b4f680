import { ReceiveMessageCommand, SendMessageCommand } from "@aws-sdk/client-sqs";
import { expect, test } from "vitest";

import type { AtEnd } from "../local/aws-fixture.ts";
import { payment, startOperator, until } from "./operator.ts";

type Redrive = {
  moved: number;
  problems: string[];
  messages: { messageId?: string; result: string; sentence: string }[];
};

const QUICK = { maxReceiveCount: 2, env: { BACKOFF_CAP_SECONDS: "1" } };

/** `count` payments in the dead-letter queue that no worker has claimed yet. */
async function prepare(count: number, atEnd: AtEnd) {
  const operator = await startOperator(QUICK, atEnd);
  const { dlqUrl } = operator.stack.queues;
  for (let n = 1; n <= count; n += 1) await operator.send(`order-${n}`, {}, dlqUrl);
  return operator;
}

// They mostly wait for processes and queues: some at a time.
test.concurrent("without --yes, or where nothing matches, it shows what there is and moves nothing; an id that is not there needs you", async (context) => {
  const operator = await startOperator({}, context.onTestFinished);
  const { dlqUrl, queueUrl } = operator.stack.queues;
  const ids = ["a", "b", "c"].map((letter) => letter.repeat(47));
  for (const id of ids) {
    await operator.send(id, {}, dlqUrl);
    await new Promise((resolve) => setTimeout(resolve, 2)); // SQS's clock counts whole ms
  }

  const { code, stdout, stderr } = await operator.payments("redrive", "--all");
  const reason = await operator.payments("redrive", "--reason", "invalid");
  const id = await operator.payments("redrive", "--id", "nosuch", "--yes");

  expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
  expect(stderr).toContain(`from  ${dlqUrl}\nto    ${queueUrl}\n`);
  // As many names as fit into a line.
  expect(stderr).toMatch(/\n3 messages {3}unclaimed\n {2}No attempt has claimed it.+\n {2}Redrive/);
  expect(stderr).toContain(`\n  ${ids[0]}, ${ids[1]}, …\n`);
  expect(stderr).toContain("Move 3 messages? There is no terminal to ask at");
  const nothing =
    "Nothing to move: 3 messages in the dead-letter queue, none chosen. The reasons there: unclaimed.\n";
  // A busy machine draws a progress bar before it.
  expect(reason).toMatchObject({ code: 0, stdout: "" });
  expect(reason.stderr).toContain(nothing);
  expect(id.stderr).toContain(
    `Not in the dead-letter queue: nosuch. payments status says where it is.\n${nothing}`,
  );
  expect(id.code).toBe(3);
  expect(await operator.stack.queue.depth(dlqUrl)).toMatchObject({ visible: 3 });
});

test.concurrent("each choice moves its messages and no others, and reports what became of each", async (context) => {
  const operator = await startOperator(QUICK, context.onTestFinished);
  const { dlqUrl } = operator.stack.queues;
  for (const id of ["order-1", "order-2", "order-3", "order-4"]) {
    await operator.send(id, {}, dlqUrl);
    await new Promise((resolve) => setTimeout(resolve, 2)); // SQS's clock counts whole ms
  }
  await operator.send("order-5", { currency: "xxx" }, dlqUrl);

  const one = await operator.payments("redrive", "--id", "order-2", "--yes");
  const invalid = await operator.payments("redrive", "--reason", "invalid", "--yes");
  await operator.send("order-2", { amount: 700 }, dlqUrl);
  const conflict = await operator.json<Redrive>("redrive", "--reason", "conflict", "--yes");
  const oldest = await operator.json<Redrive>("redrive", "--all", "--limit", "2", "--yes");

  expect(one.stdout).toMatch(/\norder-2 +with an outcome +succeeded\n/);
  expect(one.stdout).toContain(
    "1 message moved: 1 with an outcome, 0 back in the dead-letter queue, 0 still open.",
  );
  expect(one.code).toBe(0);
  expect(invalid.stdout).toMatch(
    /\norder-5 +back in the dead-letter queue +invalid\/currency: currency/,
  );
  expect(invalid.code).toBe(3);
  // The first payment's outcome is not its own.
  expect(conflict.messages).toMatchObject([{ messageId: "order-2", result: "back" }]);
  expect(oldest.messages.map(({ messageId }) => messageId)).toEqual(["order-1", "order-3"]);
  expect(operator.stack.queue.counts()).not.toHaveProperty("StartMessageMoveTask");
  expect(await operator.stack.queue.depth(dlqUrl)).toMatchObject({ visible: 3, inFlight: 0 });
  const charges = ["order-1", "order-2", "order-3", "order-4"].map(operator.charges);
  expect(charges).toEqual([1, 1, 1, 0]);
});

test.concurrent("redrive --all moves everything by SQS's own task, also what was sent straight to the dead-letter queue", async (context) => {
  const operator = await prepare(12, context.onTestFinished);

  const result = await operator.json<Redrive>("redrive", "--all", "--yes");

  expect(result).toMatchObject({ moved: 12, problems: [] });
  expect(result.messages.every(({ result }) => result === "outcome")).toBe(true);
  expect(operator.stack.queue.counts()).toMatchObject({ StartMessageMoveTask: 1 });
  expect(operator.stack.stripe.ledger.totals().charges).toBe(12);
});

test.concurrent("redrive sends before it deletes: with the send refused the message stays, with the delete lost it is in both queues and charged once", async (context) => {
  const operator = await prepare(1, context.onTestFinished);
  const { faults } = operator.stack.queue;
  const refused = faults.add(
    { operation: "SendMessage", times: Infinity },
    { kind: "refuse", status: 400, code: "KmsDisabled", message: "The key is disabled." },
  );
  const stayed = await operator.payments("redrive", "--id", "order-1", "--yes");
  refused.remove();
  const lost = faults.add(
    { operation: "DeleteMessage", queue: "payments-dlq", times: Infinity },
    { kind: "dropBefore" },
  );

  const { stderr } = await operator.payments("redrive", "--id", "order-1", "--yes");
  lost.remove();
  const again = await operator.json<Redrive>("redrive", "--id", "order-1", "--yes");
  await operator.stack.drained(60_000);

  expect(stayed.stderr).toContain("order-1 stayed: The key is disabled.");
  expect(stayed.code).toBe(3);
  expect(lost.happened()).toBeGreaterThan(0);
  expect(stderr).toContain("1 message could not be deleted, so it is in both queues");
  expect(again.messages).toMatchObject([{ result: "outcome", sentence: "succeeded" }]);
  expect(operator.charges("order-1")).toBe(1);
  expect(await operator.stack.queue.messages(operator.stack.queues.dlqUrl)).toEqual([]);
});

test.concurrent("redrive --to sets a message aside with its attributes, which decide whether it is read, and waits for nothing", async (context) => {
  const operator = await prepare(1, context.onTestFinished);
  const aside = await operator.queueAside();
  const MessageAttributes = { "bq-schema-version": { DataType: "Number", StringValue: "2" } };
  await operator.sqs.send(
    new SendMessageCommand({
      QueueUrl: operator.stack.queues.dlqUrl,
      MessageBody: JSON.stringify(payment("order-2")),
      MessageAttributes,
    }),
  );

  const args = ["--reason", "invalid/schema_version", "--to", aside, "--yes"];
  const result = await operator.json<Redrive>("redrive", ...args);

  expect(result).toEqual({ moved: 1, problems: [], messages: [] });
  const { Messages } = await operator.sqs.send(
    new ReceiveMessageCommand({ QueueUrl: aside, MessageAttributeNames: ["All"] }),
  );
  expect(Messages).toMatchObject([{ MessageAttributes }]);
});

test.concurrent("Ctrl-C during redrive --all cancels SQS's task, and reports what was really moved", async (context) => {
  const operator = await prepare(8, context.onTestFinished);
  const { queue, queues } = operator.stack;
  const interrupt = async (...args: string[]) => {
    const tasks = queue.counts()["StartMessageMoveTask"] ?? 0;
    const { child, finished } = operator.command("redrive", "--all", "--rate", "1", ...args);
    await until(() => queue.counts()["StartMessageMoveTask"] === tasks + 1);
    child.kill("SIGINT");
    return finished;
  };

  const { code, stdout, stderr } = await interrupt("--yes");
  const moved = 8 - (await queue.messages(queues.dlqUrl)).length;
  const again = await interrupt("--yes", "--json");
  const left = (await queue.messages(queues.dlqUrl)).length;

  expect(stderr).toContain(
    `SQS's move task ended as CANCELLED, it was interrupted: ${moved} of 8 messages moved, as SQS counts; payments dlq shows what is left.`,
  );
  expect(stdout).toBe(
    `${moved} ${moved === 1 ? "message" : "messages"} moved to ${queues.queueUrl}.\n`,
  );
  expect(JSON.parse(again.stdout)).toMatchObject({ moved: 8 - moved - left, messages: [] });
  expect([code, again.code]).toEqual([130, 130]);
  expect(left).toBeGreaterThan(0);
  await operator.stack.drained(60_000);
  expect(operator.stack.stripe.ledger.totals().charges + left).toBe(8);
});
