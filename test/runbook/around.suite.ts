// The alarms of the parts around the worker: each is provoked as docs/runbook.md's table says, fires by its own
// definition, and clears by what the table and its section say. On two stacks, one after the other.
import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";

import { PurgeQueueCommand, StartMessageMoveTaskCommand } from "@aws-sdk/client-sqs";
import { expect, onTestFinished, test } from "vitest";

import {
  everyFunction,
  orderFulfillment,
  outcomePublisher,
  paymentFinalizer,
  reconciliation,
} from "../../local/parts.ts";
import { LOCAL_WORKER } from "../../local/payment-worker.ts";
import { openShop } from "../../local/shop.ts";
import { startOperator, until } from "../cli/operator.ts";
import type { Operator } from "../cli/operator.ts";
import { AROUND_SECTIONS, PRACTICE } from "./page.ts";
import { runner, startPractice } from "./practice.ts";

/** How many of AWS's seconds one of the test's stands for; the reconciliation's alarms count hours. */
const SPEED = 100;
const SPEED_OF_HOURS = 1_000;

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
  EventDeadLetters: redrive("orders"),
  StripeEventDeadLetters: redrive("stripe-events"),
  OrderDeadLetters: redrive("orders"),
};

const HOURLY = /^(Reconciliation|PaymentsOpen)/;
// Last: its repair publishes another outcome under the id of one that the order has, a dead letter.
const LAST = "UnmatchedPayments";
const names = [...[...AROUND_SECTIONS.keys()].filter((one) => one !== LAST), LAST];
const FINALIZER = paymentFinalizer();
/** They give up after seconds. */
const IMPATIENT = [
  outcomePublisher({ retryAttempts: 12, retryPauseMs: 10 }),
  orderFulfillment({ ...LOCAL_WORKER, maxReceiveCount: 3 }),
  { ...FINALIZER, trigger: { ...FINALIZER.trigger, maxReceiveCount: 3 } },
];
const OFTEN = reconciliation({ everyMs: 300, input: { now: true, delaySeconds: 1 } });

test.each([
  { part: "around the worker", speed: SPEED, names: names.filter((one) => !HOURLY.test(one)) },
  {
    part: "of the reconciliation",
    speed: SPEED_OF_HOURS,
    names: names.filter((one) => HOURLY.test(one)),
  },
])(
  "every alarm $part fires when it is provoked as the table says, and clears",
  { timeout: 400_000 },
  async ({ speed, names }) => {
    const [, ...others] = everyFunction();
    const instead = speed === SPEED ? IMPATIENT : [OFTEN];
    const operator = await startOperator(
      {},
      onTestFinished,
      others.map((one) => instead.find(({ name }) => name === one.name) ?? one),
    );
    await openShop(operator.stack);
    const alarms = await startPractice(operator, {}, speed, onTestFinished);
    const run = runner(operator, "");
    const fires = async (name: string) =>
      (await alarms.states()).find((one) => one.name === name)?.fires;

    for (const name of names) {
      const { provoke, end } = PRACTICE.get(name) ?? { provoke: [], end: [] };
      expect([name, provoke.length > 0]).toEqual([name, true]);
      await until(async () => (await fires(name)) === false);
      for (const command of provoke) {
        await run(command, /^/);
        if (command.includes(" send ")) await settled(operator.stack);
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

/** Redrives, and waits until the consumer has done it all. */
function redrive(queue: string) {
  const SourceArn = `arn:aws:sqs:us-east-1:000000000000:${queue}-dlq`;
  return async ({ sqs, stack }: Operator) => {
    await sqs.send(new StartMessageMoveTaskCommand({ SourceArn }));
    await settled(stack, queue);
  };
}

/** A queue's messages are done with; what follows from them may be broken. */
async function settled({ queue }: Operator["stack"], name = "payments"): Promise<void> {
  const urls = [name, `${name}-dlq`].map((one) => queue.urls().get(one) ?? "");
  await until(async () => {
    const depths = await Promise.all(urls.map((url) => queue.depth(url)));
    return depths.every(({ visible, inFlight, delayed }) => visible + inFlight + delayed === 0);
  });
}
