import { expect, test } from "vitest";

import { warnings } from "../../cli/queue/warnings.ts";
import { startOperator } from "./operator.ts";

type Dlq = { messages: { messageId?: string; reason: string }[] };

// They mostly wait for processes and queues: some at a time.
test.concurrent("dlq shows every message with its reason, oldest first, and takes none", async (context) => {
  const operator = await startOperator({}, context.onTestFinished);
  const { queue, queues } = operator.stack;
  await operator.send("order-1");
  await operator.stack.drained(60_000);
  await operator.send("order-2", { amount: 12.5 });
  await operator.deadLetters(1);
  await operator.send("order-1", { amount: 700 });
  await operator.deadLetters(2);
  await operator.send("order-3", { customer: "cus_missing" });
  await operator.deadLetters(3);
  await operator.sendBody("not json");
  await operator.deadLetters(4);
  const counts = async () =>
    (await queue.messages(queues.dlqUrl)).map(({ receiveCount, state }) => [receiveCount, state]);
  const before = await counts();

  const { code, stdout } = await operator.payments("dlq");
  const after = await counts();
  const { stdout: summary } = await operator.payments("dlq", "--summary");

  const rows = stdout.split("\n");
  expect(rows[0]).toMatch(/^message +age +left +Stripe request +reason/);
  expect(rows[1]).toMatch(
    /^order-2 +\d+ s +14 d +invalid\/amount +amount must be an integer in Stripe's smallest unit/,
  );
  expect(rows[2]).toMatch(/^order-1 +\d+ s +14 d +conflict +Its message id was used before/);
  expect(rows[3]).toMatch(
    /^order-3 +\d+ s +14 d +req_\w+ +stripe_rejected\/resource_missing +Stripe calls the request invalid: resource_missing, parameter customer\.$/,
  );
  expect(rows[4]).toMatch(/^\(no id\) [\w-]+ .* invalid\/body_json +body must be one JSON object/);
  expect(stdout).toContain("4 messages.");
  expect(code).toBe(0);
  // Each was received once more, and is as visible as before.
  expect(after).toEqual(before.map(([receives, state]) => [Number(receives) + 1, state]));
  expect(after.map(([, state]) => state)).toEqual(Array(4).fill("visible"));
  const paragraphs = summary.split("\n\n");
  expect(paragraphs[0]).toMatch(
    /^1 message {3}invalid\/amount {3}oldest order-2, \d+ s old, 14 d left\n/,
  );
  expect(paragraphs[0]).toContain("The sender fixes it and sends it again");
  expect(paragraphs.at(-1)).toBe("4 messages in all.\n");
});

test.concurrent("a stored 500 is charged, comes back from a redrive, and is recorded by reconcile --repair", async (context) => {
  const operator = await startOperator(
    { maxReceiveCount: 2, env: { BACKOFF_CAP_SECONDS: "1" } },
    context.onTestFinished,
  );
  operator.stack.stripe.faults.add({ method: "POST" }, { kind: "storedErrorAfterCharge" });
  await operator.send("order-1");
  await operator.deadLetters(1);

  const summary = await operator.payments("dlq", "--summary");
  const status = await operator.payments("status", "order-1", "--stripe");
  const back = await operator.payments("redrive", "--all", "--yes", "--wait", "20");
  const repaired = await operator.payments("reconcile", "--rate", "50", "--repair", "--yes");
  const redriven = await operator.payments("redrive", "--id", "order-1", "--yes");

  expect(summary.stdout).toContain("Stripe repeats a stored 500 for that key: reconcile --repair");
  expect(status.stdout).toMatch(/at Stripe +succeeded, 1250 eur/);
  expect(status.stdout).toContain("NOT RECORDED: payments reconcile --repair records it at once.");
  expect(status.code).toBe(3);
  expect(back.stdout).toMatch(/\norder-1 +back in the dead-letter queue/);
  expect(repaired.stdout).toContain("order-1: recorded as succeeded, pi_");
  expect(redriven.stdout).toMatch(/\norder-1 +with an outcome +succeeded\n/);
  expect(operator.charges("order-1")).toBe(1);
});

const PEEK = { complete: true, notGivenBack: 0, hiddenSeconds: 130 };
const depth = (visible: number, inFlight: number) => ({
  arn: "arn",
  visible,
  inFlight,
  delayed: 0,
  retentionMs: 1,
  maxReceiveCount: 5,
});

test.each<[string, Parameters<typeof warnings>, RegExp[]]>([
  ["all that there was", [PEEK, depth(4, 0), 4], []],
  // SQS counted what another reader had given back just then.
  ["what was counted as in flight, and could be seen", [PEEK, depth(0, 4), 4], []],
  ["some of them", [PEEK, depth(3, 2), 3], [/^2 more messages in flight: received by another/]],
  ["some, then Ctrl-C", [{ ...PEEK, complete: false }, depth(9, 2), 3], [/^This is not all: it/]],
  [
    "all, and two that stay hidden",
    [{ ...PEEK, notGivenBack: 2 }, depth(4, 0), 4],
    [/^2 messages could not be given back at once: hidden for 2 min at most\.$/],
  ],
])("a peek that saw %s", (_, args, expected) => {
  expect(warnings(...args)).toEqual(
    expected.map((sentence) => expect.stringMatching(sentence) as string),
  );
});

test.concurrent("dlq says that the queue is empty, and distinguishes a lost acknowledgement from a payment that was not made", async (context) => {
  const operator = await startOperator({}, context.onTestFinished);
  const empty = await operator.payments("dlq");
  await operator.send("order-1");
  await operator.stack.drained(60_000);
  const { dlqUrl } = operator.stack.queues;
  await operator.send("order-1", {}, dlqUrl);
  await operator.send("order-2", {}, dlqUrl);

  const { messages } = await operator.json<Dlq>("dlq");

  expect(empty).toMatchObject({ code: 0, stdout: "The dead-letter queue is empty.\n" });
  expect(messages.map(({ messageId, reason }) => [messageId, reason])).toEqual([
    ["order-1", "completed"],
    ["order-2", "unclaimed"],
  ]);
});
