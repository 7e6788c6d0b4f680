// The demo's story, in the order in which it happens.
import { SHAPES } from "../../scripts/message-body.ts";
import { payment } from "../harness/harness.ts";
import type { Harness, PlannedFault } from "../harness/harness.ts";
import { until } from "../harness/wait.ts";
import { DEMO } from "../timings.ts";
import * as faults from "./faults.ts";

const ORDINARY = 20;

/** Runs the story and returns its faults. `announce` gets a sentence as each part begins. */
export async function runStory(
  harness: Harness,
  announce: (sentence: string) => void,
): Promise<PlannedFault[]> {
  const { stack, deliveries, send } = harness;
  // The story goes on where it waited in vain: what did not happen shows in its tables.

  announce("Stripe charges a payment, answers 500, and stores that answer for every retry.");
  const stored = await faults.failForEver(harness);
  await until(10_000, () => stored.happened() > 0);

  announce("An order is paid over HTTP: its client repeats it, worker and publisher are killed.");
  const order = await faults.placeOrder(harness);
  await until(10_000, () => deliveries.kills() > 0);

  announce(`${ORDINARY} ordinary payments arrive, in every shape that the worker reads.`);
  const ordinary = Array.from({ length: ORDINARY }, (_, index) =>
    payment(`ordinary-${index + 1}`, { amount: 1000 + index }, SHAPES[index % SHAPES.length]),
  );
  await Promise.all(ordinary.map(send));
  await until(15_000, () => ordinary.every(({ id }) => deliveries.isDone(id)));

  announce("The queue delivers one message to two workers at the same time.");
  const planned = [stored, ...order, await faults.deliverTwiceAtOnce(harness)];

  announce(
    "Of two bank debits one arrives days later, and one bounces: Stripe's events report it.",
  );
  planned.push(...(await faults.debits(harness)));

  announce(
    "Producers retry, replies get lost, Stripe fails, cards are declined, messages invalid.",
  );
  planned.push(...(await faults.mishaps(harness)));

  const redriven = "redriven";
  const unfit = [redriven, "malformed", "two-amounts"];
  await until(20_000, async () => {
    const dead = (await stack.queue.messages(stack.queues.dlqUrl)).map(({ body }) => body);
    const arrived = unfit.every((id) => dead.some((body) => body.includes(`"${id}"`)));
    return arrived && (await keyWindowIsOver(harness, redriven));
  });
  announce("An operator redrives the dead-letter queue, after the end of Stripe's key window.");
  const before = faults.sqsIds(harness, redriven).size;
  const moved = await harness.redrive();
  planned.push({
    id: redriven,
    what: "redriven from the dead-letter queue with new SQS MessageIds",
    happened: () => (faults.sqsIds(harness, redriven).size > before ? moved : 0),
  });

  await stack.drained(20_000).catch(() => {});
  return planned;
}

async function keyWindowIsOver({ stack }: Harness, id: string): Promise<boolean> {
  const record = await stack.table.item(stack.tableName, id);
  return Date.now() - Number(record?.["firstClaimedAt"]) > DEMO.keyWindowMs;
}
