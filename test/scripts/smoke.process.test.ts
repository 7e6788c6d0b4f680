import { join } from "node:path";

import { expect, test } from "vitest";

import { startOperator } from "../cli/operator.ts";

const SMOKE = join(import.meta.dirname, "..", "..", "scripts", "smoke.ts");

async function startSmoke() {
  const operator = await startOperator();
  const smoke = (...args: string[]) => operator.start(process.execPath, [SMOKE, ...args]).finished;
  return { operator, smoke };
}

test("a smoke payment that succeeds lets the pipeline go on, each run with a charge of its own", async () => {
  const { operator, smoke } = await startSmoke();

  const runs = [await smoke(), await smoke()];

  for (const { code, stdout, stderr } of runs) {
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toMatch(/^sent (smoke-\S+) to the local stack\n\1 succeeded, pi_\w+\n$/);
  }
  expect(operator.stack.stripe.ledger.totals().charges).toBe(2);
});

test("a smoke payment that is declined stops the pipeline", async () => {
  const { smoke } = await startSmoke();

  const { code, stderr } = await smoke("--payment-method", "pm_card_chargeDeclined");

  expect(stderr).toMatch(/^smoke-\S+ is declined, card_declined\. `payments status smoke-/);
  expect(code).toBe(1);
});

test("a smoke payment that nothing takes from the queue stops the pipeline", async () => {
  const { operator, smoke } = await startSmoke();
  // The dead-letter queue has no worker.
  operator.running.queueUrl = operator.stack.queues.dlqUrl;
  operator.announce();

  const { code, stderr } = await smoke("--wait", "1");

  expect(stderr).toMatch(/^smoke-\S+ was not claimed within 1 s: nothing takes messages/);
  expect(code).toBe(1);
});

test("a smoke payment that Stripe does not answer stops the pipeline", async () => {
  const { operator, smoke } = await startSmoke();
  operator.stack.stripe.faults.outage("unavailable");

  const { code, stderr } = await smoke("--wait", "5");

  expect(stderr).toMatch(/^smoke-\S+ has no outcome after 5 s: /);
  expect(code).toBe(1);
});
