// Plays one row of the kill table: brings a message to the point, lets the second delivery come,
// kills the process there, and reads from the servers what became of the message.
import type { FirstAnswer, Moment, Row } from "./points.ts";
import type { Delivery } from "./deliveries.ts";
import { holdNext } from "./hold.ts";
import { freeze, kill, thaw } from "./process.ts";
import { openStage, type Stage } from "./stage.ts";
import { killsWorker } from "./timings.ts";
import { until } from "./until.ts";
import { readEnd, type End } from "./end.ts";

export type Played = End & {
  row: Row;
  /** Processes that were there and are dead. */
  kills: number;
  /** What did not happen as planned: then the row shows nothing. */
  missed: string | undefined;
};

const ID = "order-1001";
// A warm second delivery needs 50 ms. Below the function's timeout.
const SECOND_DELIVERY_MS = 4_000;
// Every wait of a row, one after the other: visibility timeout, lease, visibility timeout.
const SETTLED_MS = 90_000;
const KEY_WINDOW_MS = 1_000; // shorter than the first back-off

/** Plays the row on a stack of its own. */
export async function playRow(row: Row): Promise<Played> {
  const { point } = row;
  const stage = await openStage(killsWorker(point.keyWindowOver && KEY_WINDOW_MS));
  try {
    const act = await killAtPoint(stage, row).catch((error: unknown) => ({
      kills: 0,
      missed: String(error),
    }));
    await settled(stage);
    return { row, ...act, ...(await readEnd(stage, ID)) };
  } finally {
    await stage.stack.stop();
  }
}

/** One kill as planned, one charge, and an outcome that Stripe confirms. */
export function isRight({ missed, kills, charges, ending }: Played): boolean {
  return missed === undefined && kills === 1 && charges === 1 && ending === "succeeded";
}

async function killAtPoint(
  stage: Stage,
  { point, side, secondDelivery }: Row,
): Promise<{ kills: number; missed: string | undefined }> {
  const { stack, deliveries } = stage;
  const index = point.takesOver ? 1 : 0;
  const first = (): Delivery => deliveryAt(stage, index);
  const second = (): Delivery | undefined => deliveries.of(ID)[index + 1];
  const reached = Promise.withResolvers<void>();
  const death = Promise.withResolvers<void>();
  const moment = point.moments[side];
  let kills = 0;
  let secondCame = secondDelivery === "later";
  let isTurnOfFirst = secondDelivery !== "before";

  async function atPoint(): Promise<void> {
    if (first().over) throw new Error("The delivery was over before its point.");
    reached.resolve();
    if (secondDelivery === "during") {
      if (!first().acknowledged) freeze(first().pid);
      await stage.deliverAgain(ID, first());
      secondCame = await until(SECOND_DELIVERY_MS, () => second()?.over === true);
    }
    kills += Number(await kill(first().pid));
    death.resolve();
  }

  /** The second delivery runs to its end, or to Stripe, where it waits until the first is dead. */
  async function beforePoint(): Promise<void> {
    const starting = point.previous === "process started";
    if (starting) freeze(first().pid);
    let isAtStripe = false;
    const waitForDeath = (): Promise<void> => {
      isAtStripe = true;
      return death.promise;
    };
    stack.stripe.faults.add(
      { where: () => !isTurnOfFirst },
      { kind: "hook", at: "arriving", run: waitForDeath },
    );
    await stage.deliverAgain(ID, first());
    secondCame = await until(SECOND_DELIVERY_MS, () => isAtStripe || second()?.over === true);
    isTurnOfFirst = true;
    if (moment === "process started") await atPoint();
    else if (starting) thaw(first().pid);
  }

  function at(when: Moment, isReady: () => boolean, lost: boolean, run: () => Promise<void>): void {
    const safely = (): Promise<void> => run().catch(death.reject);
    if (when === "process started") deliveries.onStart(ID, index, () => void safely());
    else holdNext(stack, ID, { ...when, when: isReady, run: safely, lost });
  }

  function arm(): void {
    if (secondDelivery === "before") at(point.previous, () => true, false, beforePoint);
    if (secondDelivery === "before" && moment === "process started") return;
    at(
      moment,
      () => isTurnOfFirst,
      moment !== "process started" && moment.side === "before",
      atPoint,
    );
  }

  if (!point.coldStart) await stage.warmUp();
  if (point.takesOver) {
    answerFirstRequest(stage, point.firstAnswer);
    await stage.send(ID);
    await until(SECOND_DELIVERY_MS, () => deliveries.of(ID)[0]?.over === true);
    arm();
    await stage.warmUp(); // after a success the event source polls at full speed again
  } else {
    arm();
    answerFirstRequest(stage, point.firstAnswer);
    await stage.send(ID);
  }
  const isReached = await Promise.race([
    reached.promise.then(() => true),
    death.promise.then(() => true),
    settled(stage).then(() => false),
  ]);
  if (!isReached) return { kills, missed: "the point was not reached" };
  await death.promise;
  if (secondDelivery === "after") {
    await until(SECOND_DELIVERY_MS, () => first().over);
    await stage.deliverAgain(ID, first());
    secondCame = await until(SECOND_DELIVERY_MS, () => second() !== undefined);
  }
  if (kills === 0) return { kills, missed: "the process was dead already" };
  return { kills, missed: secondCame ? undefined : "no second delivery in time" };
}

/** Waits until no message is left; one that stays is seen when the end is read. */
async function settled({ stack }: Stage): Promise<void> {
  await stack.drained(SETTLED_MS).catch(() => {});
}

function deliveryAt({ deliveries }: Stage, index: number): Delivery {
  const delivery = deliveries.of(ID)[index];
  if (!delivery) throw new Error(`Bug! Delivery ${index + 1} of the message has not begun.`);
  return delivery;
}

function answerFirstRequest({ stack }: Stage, answer: FirstAnswer | undefined): void {
  const { faults } = stack.stripe;
  const create = { method: "POST", messageId: ID };
  if (answer === "key in use") {
    faults.add(create, { kind: "refuse", error: "idempotency_key_in_use" });
  } else if (answer === "charged, and 500 for ever") {
    faults.add(create, { kind: "storedErrorAfterCharge" });
  }
}
