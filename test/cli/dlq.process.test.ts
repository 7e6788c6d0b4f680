import { expect, test } from "vitest";

import { startOperator } from "./operator.ts";

type Dlq = {
  messages: {
    messageId?: string;
    reason: string;
    why: string;
    secondsLeft: number;
    receiveCount: number;
    stripeRequestId?: string;
  }[];
  complete: boolean;
};

/** A refusal, a conflict and a rejection, in this order of age. */
async function prepare() {
  const operator = await startOperator();
  await operator.send("order-1");
  await operator.stack.drained(60_000);
  await operator.send("order-2", { amount: 12.5 });
  await operator.deadLetters(1);
  await operator.send("order-1", { amount: 700 });
  await operator.deadLetters(2);
  await operator.send("order-3", { customer: "cus_missing" });
  await operator.deadLetters(3);
  return operator;
}

test("dlq shows every message with its reason, oldest first", async () => {
  const operator = await prepare();

  const { code, stdout, stderr } = await operator.payments("dlq");

  const rows = stdout.split("\n");
  expect(rows[0]).toMatch(/^message +age +left +Stripe request +reason/);
  expect(rows[1]).toMatch(
    /^order-2 +\d+ s +14 d +invalid\/amount +amount must be an integer of minor units/,
  );
  expect(rows[2]).toMatch(/^order-1 +\d+ s +14 d +conflict +Its message id was used before/);
  expect(rows[3]).toMatch(
    /^order-3 +\d+ s +14 d +req_\w+ +stripe_rejected\/resource_missing +Stripe calls the request invalid: resource_missing, parameter customer\.$/,
  );
  expect(stdout).toContain("3 messages.");
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
});

test("a look at the dead-letter queue takes nothing and counts one receive a message", async () => {
  const operator = await prepare();
  const { dlqUrl } = operator.stack.queues;
  const counts = async () =>
    (await operator.stack.queue.messages(dlqUrl)).map(({ receiveCount, state }) => ({
      receiveCount,
      state,
    }));
  const before = await counts();

  const dlq = await operator.json<Dlq>("dlq");

  expect(dlq.complete).toBe(true);
  expect(dlq.messages.map(({ messageId }) => messageId)).toEqual(["order-2", "order-1", "order-3"]);
  expect(before).toHaveLength(3);
  expect(await counts()).toEqual(
    before.map(({ receiveCount }) => ({ receiveCount: receiveCount + 1, state: "visible" })),
  );
});

test("dlq --summary has one paragraph a reason, with what helps", async () => {
  const operator = await prepare();
  await operator.send("order-4", { amount: -1 });
  await operator.deadLetters(4);

  const { stdout } = await operator.payments("dlq", "--summary");

  const [first, , , last] = stdout.split("\n\n");
  expect(first).toMatch(/^2 messages {3}invalid\/amount {3}oldest order-2, \d+ s old, 14 d left\n/);
  expect(first).toContain("The sender mends it and sends it again");
  expect(last).toBe("4 messages in all.\n");
});

test("dlq says why a message without a readable id is there", async () => {
  const operator = await startOperator();
  await operator.sendBody("not json");
  await operator.deadLetters(1);

  const { stdout } = await operator.payments("dlq");

  expect(stdout).toMatch(/\n\(no id\) [\w-]+ .* invalid\/body_json +body must be one JSON object/);
});

test("dlq tells a lost acknowledgement from a payment that was not made", async () => {
  const operator = await startOperator();
  await operator.send("order-1");
  await operator.stack.drained(60_000);
  const { dlqUrl } = operator.stack.queues;
  await operator.send("order-1", {}, dlqUrl);
  await operator.send("order-2", {}, dlqUrl);

  const { messages } = await operator.json<Dlq>("dlq");

  expect(messages.map(({ messageId, reason }) => [messageId, reason])).toEqual([
    ["order-1", "completed"],
    ["order-2", "unclaimed"],
  ]);
});

test("dlq of an empty queue says so", async () => {
  const operator = await startOperator();

  const { code, stdout } = await operator.payments("dlq");

  expect({ code, stdout }).toEqual({ code: 0, stdout: "The dead-letter queue is empty.\n" });
});
