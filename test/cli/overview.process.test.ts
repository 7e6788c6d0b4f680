// payments overview, history and dlq --show: what happens now, to one message, and in one message.
import { expect, test } from "vitest";

import { groupResults } from "../../cli/overview/read.ts";
import { startOperator, until } from "./operator.ts";

test("an outage, a conflict and a decline can be seen in the overview, in a history and in a dead letter", async () => {
  const operator = await startOperator({
    maxReceiveCount: 2,
    env: { BACKOFF_BASE_SECONDS: "60", BACKOFF_CAP_SECONDS: "60" },
  });
  const { stack } = operator;
  await operator.send("paid");
  await operator.send("declined", { paymentMethod: "pm_card_chargeDeclined" });
  await stack.drained(60_000);
  await operator.send("paid", { amount: 700, customer: "cus_bob" });
  await operator.deadLetters(1);
  const outage = stack.stripe.faults.outage("unavailable");
  await operator.send("late");
  await until(() => operator.lines.some(({ messageId }) => messageId === "late"));

  const overview = await operator.payments("overview");
  const late = await operator.payments("history", "late");
  const paid = await operator.payments("history", "paid", "--since", "1h");
  const nothing = await operator.payments("history", "nosuch");
  outage.remove();
  const shown = await operator.payments("dlq", "--show", "paid");

  expect(overview.stdout).toMatch(/^queue {2}0 visible, 1 in flight, 0 delayed\n\n1 dead letter\n/);
  expect(overview.stdout).toMatch(/\n +1 {3}conflict +14 d\n/);
  expect(overview.stdout).toMatch(/\n5 deliveries since \d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC\n/);
  const time = String.raw`\d\d:\d\d:\d\d`;
  const row = (text: string) => new RegExp(`\\n +\\d +1 {3}${text} +${time} +${time}\\n`);
  expect(overview.stdout).toMatch(row("completed, succeeded"));
  expect(overview.stdout).toMatch(row("completed, declined +card_declined"));
  expect(overview.stdout).toMatch(row("transient +stripe_unavailable/http_503"));
  expect(overview.stdout).toMatch(/\n +2 +1 {3}conflict/);
  expect(overview.code).toBe(3);

  expect(late.stdout).toMatch(
    /\nlate +\d{4}-\d\d-\d\d \d\d:\d\d:\d\d +1 +1 {3}transient +stripe_unavailable\/http_503 +req_\w+ +\d{4}-\d\d-\d\d \d\d:\d\d:\d\d to \d\d:\d\d:\d\d\n/,
  );
  expect(paid.stdout).toMatch(
    /\npaid .+ completed, succeeded .+ acknowledged\npaid .+ conflict .+/,
  );
  expect(paid.code).toBe(0);
  expect(nothing).toMatchObject({ code: 3, stdout: "" });

  expect(shown.stdout).toMatch(/reason +conflict: Its message id was used before/);
  expect(shown.stdout).toMatch(/differs +amount, customer\n/);
  expect(shown.stdout).toContain('"customer": "xxx_xxx"');
  expect(shown.stdout).not.toContain("cus_bob");
});

test("results are grouped by decision, outcome and code, the most frequent first", () => {
  const result = (timestamp: string, messageId: string, code?: string) => ({
    timestamp,
    message: "",
    decision: "transient",
    messageId,
    kind: "stripe_unavailable",
    ...(code !== undefined && { code }),
  });

  expect(
    groupResults([
      result("2026-11-29T12:00:00Z", "a", "timeout"),
      result("2026-11-29T12:01:00Z", "a", "http_503"),
      result("2026-11-29T12:02:00Z", "a", "http_503"),
      result("2026-11-29T12:03:00Z", "b", "http_503"),
    ]),
  ).toEqual([
    {
      deliveries: 3,
      messages: 2,
      result: "transient",
      code: "stripe_unavailable/http_503",
      first: "2026-11-29T12:01:00Z",
      last: "2026-11-29T12:03:00Z",
    },
    {
      deliveries: 1,
      messages: 1,
      result: "transient",
      code: "stripe_unavailable/timeout",
      first: "2026-11-29T12:00:00Z",
      last: "2026-11-29T12:00:00Z",
    },
  ]);
});
