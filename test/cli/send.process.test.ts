import { expect, test } from "vitest";

import { startOperator, until } from "./operator.ts";

test("what send --help lists for the local stack provokes the outcome that it names", async () => {
  const operator = await startOperator({ maxReceiveCount: 2 });
  const { stdout: help } = await operator.payments("send", "--help");
  const [, list = ""] = help.split("On the local stack, what a payment may become:\n");
  const lines = (list.split("\n\n")[0] ?? "").trim().split(/\n +/);

  await Promise.all(
    lines.map(async (line, index) => {
      const [option = "", value = ""] = line.split(/ +/);
      await operator.payments("send", "--id", `order-${index}`, option, value);
    }),
  );
  await operator.stack.drained(20_000);

  const { stdout } = await operator.payments("status", ...lines.map((_, n) => `order-${n}`));
  const ended = stdout
    .split("\n\n")
    .map(
      (one) => /declined \(\w+|processing|stripe_rejected, \w+, \w+|invalid\/\w+/.exec(one)?.[0],
    );
  expect(lines.map((line, n) => [line.replaceAll(/ +/g, " "), ended[n]])).toEqual([
    ["--payment-method pm_card_chargeDeclined declined (card_declined)", "declined (card_declined"],
    [
      "--payment-method pm_card_threeDSecureRequired declined (authentication_required)",
      "declined (authentication_required",
    ],
    ["--payment-method pm_usBankAccount_processing processing", "processing"],
    [
      "--payment-method pm_card_foo rejected: Stripe knows no such PaymentMethod",
      "stripe_rejected, resource_missing, payment_method",
    ],
    [
      "--customer cus_missing rejected: Stripe knows no such customer",
      "stripe_rejected, resource_missing, customer",
    ],
    ["--currency xyz invalid for the worker: not sent to Stripe", "invalid/currency"],
  ]);
});

test("Ctrl-C in the middle of sending says how many of how many were sent", async () => {
  const operator = await startOperator();
  const { queue } = operator.stack;
  queue.faults.add(
    { operation: "SendMessageBatch", times: Infinity },
    { kind: "delayAfter", ms: 400 },
  );

  const { child, finished } = operator.command("send", "--count", "2000");
  await until(() => (queue.counts()["SendMessageBatch"] ?? 0) > 1);
  child.kill("SIGINT");
  const { code, stdout } = await finished;

  expect(stdout).toMatch(/\ninterrupted: \d+ of 2,000 sent, to http/);
  expect(code).toBe(130);
});
