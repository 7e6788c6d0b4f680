// The alarms of the parts around the worker: each is provoked as docs/runbook.md's table says, fires by its own
// definition, and clears by what the table and its section say. On one stack, one after the other.
import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";

import { PurgeQueueCommand } from "@aws-sdk/client-sqs";
import { expect, test } from "vitest";

import { everyFunction, outcomePublisher } from "../../local/parts.ts";
import { openShop } from "../../local/shop.ts";
import { startOperator, until } from "../cli/operator.ts";
import { AROUND_SECTIONS, PRACTICE } from "./page.ts";
import { runner, startPractice } from "./practice.ts";

/** How many of AWS's seconds one of the test's stands for. */
const SPEED = 100;

/** What goes on while an alarm waits for its periods. */
const BETWEEN: Readonly<Record<string, (operator: Operator) => Promise<unknown>>> = {
  // Payments go on, and none of their outcomes is published.
  PublisherErrors: async ({ send }) => {
    await sleep(500);
    await send(randomUUID());
  },
  // POST a payment: 503 while the table is away, which three periods have to see.
  ApiUnavailable: async ({ stack }) => {
    const url = stack.functions.find(({ name }) => name === "payment-api")?.url;
    return fetch(`${url}/payments`, {
      method: "POST",
      headers: { "content-type": "application/json", "idempotency-key": "order-19" },
      body: '{"amount":1250,"currency":"eur","customer":"cus_local","paymentMethod":"pm_card_visa"}',
    });
  },
};

/** What the section's own commands do in AWS. */
const AFTER: Readonly<Record<string, (operator: Operator) => Promise<unknown>>> = {
  EventsNotDelivered: ({ sqs, stack }) =>
    sqs.send(new PurgeQueueCommand({ QueueUrl: stack.queue.urls().get("undelivered") })),
};

/** Their functions do not run here, or no command makes what they wait for. */
const NOT_HERE = [
  "OutcomesLate",
  "EventDeadLetters",
  "StripeEventDeadLetters",
  "OrderDeadLetters",
  "ReconciliationFindings",
  "ReconciliationOverdue",
  "PaymentsOpenTooLong",
];

type Operator = Awaited<ReturnType<typeof startOperator>>;

test(
  "every alarm around the worker that the table has fires when it is provoked, and clears",
  { timeout: 400_000 },
  async ({ onTestFinished }) => {
    const [, ...others] = everyFunction();
    // Gives an outcome up after seconds.
    const impatient = outcomePublisher({ retryAttempts: 12, retryPauseMs: 10 });
    const operator = await startOperator(
      {},
      onTestFinished,
      others.map((one) => (one.name === impatient.name ? impatient : one)),
    );
    await openShop(operator.stack);
    const alarms = await startPractice(operator, {}, SPEED, onTestFinished);
    const run = runner(operator, "");
    const fires = async (name: string) =>
      (await alarms.states()).find((one) => one.name === name)?.fires;

    const names = [...AROUND_SECTIONS.keys()].filter((name) => !NOT_HERE.includes(name));
    for (const name of names) {
      const { provoke, end } = PRACTICE.get(name) ?? { provoke: [], end: [] };
      expect([name, provoke.length > 0]).toEqual([name, true]);
      for (const command of provoke) {
        await run(command, /^/);
        if (command.includes(" send ") && !provoke[0]?.includes("queue")) await settled(operator);
      }
      await until(async () => {
        await BETWEEN[name]?.(operator);
        return (await fires(name)) === true;
      });
      for (const command of end) await run(command, /^/);
      await AFTER[name]?.(operator);
      await until(async () => (await fires(name)) === false);
      console.log(`${name} fired, and has cleared`);
    }
  },
);

/** The worker has done what was sent; what follows from it may be broken. */
async function settled({ stack }: Operator): Promise<void> {
  await until(async () => {
    const { visible, inFlight, delayed } = await stack.queue.depth(stack.queues.queueUrl);
    return visible + inFlight + delayed === 0;
  });
}
