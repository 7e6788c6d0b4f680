// The demo's story, in the order in which it happens.
import { SHAPES } from "../../scripts/message-body.ts";
import * as queueFaults from "./queue-faults.ts";
import type { PlannedFault, Stage } from "./stage.ts";
import * as stripeFaults from "./stripe-faults.ts";
import { DEMO_TIMINGS } from "./timings.ts";
import { within } from "./watch.ts";

const ORDINARY = 20;

/** Plays the story and returns its faults. `tell` gets a sentence as each part begins. */
export async function play(
  stage: Stage,
  tell: (sentence: string) => void,
): Promise<PlannedFault[]> {
  const { stack, watch } = stage;

  tell("Stripe charges a payment, answers 500, and stores that answer for every retry.");
  const stored = await stripeFaults.failForEver(stage);
  await within(10_000, () => stored.happened() > 0);

  tell("A payment is charged at Stripe, and its worker is killed before it can record that.");
  const killed = await stripeFaults.killAfterCharge(stage);
  await within(10_000, () => watch.crashes() > 0);

  tell(`${ORDINARY} ordinary payments arrive, in every shape that the worker reads.`);
  const ordinary = await Promise.all(
    Array.from({ length: ORDINARY }, (_, index) =>
      stage.send(`order-${index + 1}`, { amount: 1000 + index }, SHAPES[index % SHAPES.length]),
    ),
  );
  await stage.send("bank-debit", { paymentMethod: "pm_usBankAccount_processing" });
  await within(15_000, () => ordinary.every((sqsId) => watch.deleted.has(sqsId)));

  tell("The queue delivers one message to two workers at the same time.");
  const planned = [stored, killed, await queueFaults.deliverTwiceAtOnce(stage)];

  tell("Producers retry, replies get lost, Stripe fails, cards are declined, messages are wrong.");
  planned.push(
    await stripeFaults.failOnce(stage),
    await queueFaults.producerRetries(stage),
    await stripeFaults.loseReply(stage),
    await stripeFaults.decline(stage),
    await queueFaults.malformed(stage),
    await queueFaults.twoAmounts(stage),
  );

  const redriven = stored.id;
  const unfit = [redriven, "malformed", "two-amounts"];
  await within(20_000, async () => {
    const dead = (await stack.queue.messages(stack.queues.dlqUrl)).map(({ body }) => body);
    const arrived = unfit.every((id) => dead.some((body) => body.includes(`"${id}"`)));
    return arrived && (await keyWindowIsOver(stage, redriven));
  });
  tell(
    "An operator redrives the dead-letter queue, when Stripe's key is not to be trusted any more.",
  );
  const before = watch.sqsIds(redriven).size;
  const moved = await queueFaults.redrive(stage);
  planned.push({
    id: redriven,
    story: "redriven from the dead-letter queue with new SQS MessageIds",
    happened: () => (watch.sqsIds(redriven).size > before ? moved : 0),
  });

  await within(20_000, async () => {
    const { visible, inFlight, delayed } = await stack.queue.depth(stack.queues.queueUrl);
    return visible + inFlight + delayed === 0;
  });
  await stack.eventSource.idle();
  return planned;
}

async function keyWindowIsOver({ stack }: Stage, id: string): Promise<boolean> {
  const record = await stack.table.item(stack.tableName, id);
  return Date.now() - Number(record?.["firstClaimedAt"]) > DEMO_TIMINGS.keyWindowMs;
}
