// Brings a message to the point, lets the second delivery come, and kills the process there.
import { atNextRequest } from "../harness/at-request.ts";
import type { Delivery } from "../harness/deliveries.ts";
import { freeze, kill, thaw } from "../harness/process.ts";
import { until } from "../harness/wait.ts";
import type { FirstAnswer, Moment, Row } from "./points.ts";
import type { RowHarness } from "./row-harness.ts";

export type Killed = {
  /** Processes that were there and are dead. */
  kills: number;
  /** What did not happen as planned: then the row shows nothing. */
  missed: string | undefined;
};

// A warm second delivery needs 50 ms. Below the function's timeout.
const SECOND_DELIVERY_MS = 4_000;

/** Sends the message, and resolves once the process is dead and the second delivery has come. */
export async function killAtPoint(
  harness: RowHarness,
  id: string,
  { point, side, secondDelivery }: Row,
): Promise<Killed> {
  const { stack, deliveries } = harness;
  const index = point.takesOver ? 1 : 0;
  const first = (): Delivery => deliveryAt(harness, id, index);
  const second = (): Delivery | undefined => deliveries.of(id)[index + 1];
  const reached = Promise.withResolvers<void>();
  const death = Promise.withResolvers<void>();
  const moment = point.moments[side];
  let kills = 0;
  let missed: string | undefined;
  let secondCame = secondDelivery === "later";
  let isTurnOfFirst = secondDelivery !== "before";

  function fail(reason: string): void {
    missed ??= reason;
    reached.resolve();
    death.resolve();
  }

  async function atPoint(): Promise<void> {
    reached.resolve();
    if (first().over) return fail("the delivery was over before its point");
    if (secondDelivery === "during") {
      if (!first().acknowledged) freeze(first().pid);
      await harness.deliverAgain(id, first());
      secondCame = await until(SECOND_DELIVERY_MS, () => second()?.over === true);
    }
    if (await kill(first().pid)) kills = 1;
    else fail("the process was dead already");
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
    await harness.deliverAgain(id, first());
    secondCame = await until(SECOND_DELIVERY_MS, () => isAtStripe || second()?.over === true);
    isTurnOfFirst = true;
    if (moment === "process started") await atPoint();
    else if (starting) thaw(first().pid);
  }

  function at(when: Moment, isReady: () => boolean, lost: boolean, run: () => Promise<void>): void {
    const safely = (): Promise<void> => run().catch((error: unknown) => fail(String(error)));
    if (when === "process started") deliveries.onStart(id, index, () => void safely());
    else atNextRequest(stack, when, { messageId: id, when: isReady, lost }, safely);
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

  if (!point.coldStart && !(await harness.warmUp()))
    return { kills, missed: "no two warm workers" };
  if (point.takesOver) {
    answerFirstRequest(harness, id, point.firstAnswer);
    await harness.send(id);
    await until(SECOND_DELIVERY_MS, () => deliveries.of(id)[0]?.over ?? false);
    arm();
    await harness.warmUp(); // after a success the event source polls at full speed again
  } else {
    arm();
    answerFirstRequest(harness, id, point.firstAnswer);
    await harness.send(id);
  }
  const isReached = await Promise.race([
    reached.promise.then(() => true),
    harness.drained().then(() => false),
  ]);
  if (!isReached) return { kills, missed: "the point was not reached" };
  await death.promise;
  if (secondDelivery === "after" && kills === 1) {
    await until(SECOND_DELIVERY_MS, () => first().over);
    await harness.deliverAgain(id, first());
    secondCame = await until(SECOND_DELIVERY_MS, () => second() !== undefined);
  }
  if (!secondCame) fail("no second delivery in time");
  return { kills, missed };
}

function deliveryAt({ deliveries }: RowHarness, id: string, index: number): Delivery {
  const delivery = deliveries.of(id)[index];
  if (!delivery) throw new Error(`Bug! Delivery ${index + 1} of the message has not begun.`);
  return delivery;
}

function answerFirstRequest(
  { stack }: RowHarness,
  id: string,
  answer: FirstAnswer | undefined,
): void {
  const { faults } = stack.stripe;
  const create = { method: "POST", messageId: id };
  if (answer === "key in use") {
    faults.add(create, { kind: "refuse", error: "idempotency_key_in_use" });
  } else if (answer === "charged, and 500 for ever") {
    faults.add(create, { kind: "storedErrorAfterCharge" });
  }
}
