import { join } from "node:path";

import { expect, test } from "vitest";

import { startOperator } from "../cli/operator.ts";

const SMOKE = join(import.meta.dirname, "..", "..", "scripts", "smoke.ts");

test("a smoke payment that succeeds lets the pipeline go on, each run with a charge of its own; any other stops it", async () => {
  const operator = await startOperator();
  const { stack, running, announce } = operator;
  const smoke = (...args: string[]) => operator.start(process.execPath, [SMOKE, ...args]).finished;

  const runs = [await smoke(), await smoke()];
  const { charges } = stack.stripe.ledger.totals();
  const declined = await smoke("--payment-method", "pm_card_chargeDeclined");
  stack.stripe.faults.outage("unavailable");
  const unanswered = await smoke("--wait", "5");
  running.queueUrl = stack.queues.dlqUrl; // it has no worker
  announce();
  const untaken = await smoke("--wait", "1");

  for (const { code, stdout, stderr } of runs) {
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toMatch(/^sent (smoke-\S+) to the local stack\n\1 succeeded, pi_\w+\n$/);
  }
  expect(charges).toBe(2);
  expect(declined.stderr).toMatch(
    /^smoke-\S+ is declined, card_declined\. `payments status smoke-/,
  );
  expect(unanswered.stderr).toMatch(/^smoke-\S+ has no outcome after 5 s: /);
  expect(untaken.stderr).toMatch(/^smoke-\S+ was not claimed within 1 s: nothing takes messages/);
  expect([declined.code, unanswered.code, untaken.code]).toEqual([1, 1, 1]);
});
