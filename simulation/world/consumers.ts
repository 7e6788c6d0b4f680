// The functions that a queue feeds: which one, what is in a message, and what may be called done.

import { checkAcknowledged } from "../checkers/deliveries.ts";
import { checkApplied } from "../checkers/orders.ts";
import { checkEventDone } from "../checkers/outcomes.ts";
import type { Queue, QueuedMessage } from "../models/queue.ts";
import { eventBody } from "../models/stripe-events.ts";
import { invoke } from "./invocation.ts";
import type { Delivery, Invocation, Role, Sent, Start } from "./invocation.ts";
import { deliveredBody } from "./orders.ts";
import { bodyOf } from "./scenario.ts";
import { ordersOf, outcomesOf } from "./world.ts";
import type { World } from "./world.ts";

type Consumer<S> = {
  queue: (world: World) => Queue<S>;
  body: (sent: S) => string;
  /** The function says that a message is done, or its queue is about to delete it. */
  checkDone: (world: World, message: QueuedMessage<S>) => void;
  /** For a trace. */
  title: (sent: S) => string;
  /** The environments that may have a batch now. */
  slots: (world: World) => readonly number[];
  /** How much one of them gets. */
  batchSize: (world: World) => number;
};

const consumer = <S extends Sent>(of: Consumer<S>) => of as unknown as Consumer<Sent>;

const CONSUMERS: Readonly<Partial<Record<Role, Consumer<Sent>>>> = {
  worker: consumer({
    queue: ({ queue }) => queue,
    body: bodyOf,
    checkDone: checkAcknowledged,
    title: () => "",
    slots: freeWorkers,
    batchSize: ({ scenario }) => scenario.batchSize,
  }),
  finalizer: consumer({
    queue: (world) => outcomesOf(world).events,
    body: eventBody,
    checkDone: checkEventDone,
    title: ({ eventId }) => `${eventId} as `,
    slots: firstFree(10, 11),
    batchSize: (world) => outcomesOf(world).settings.batchSize,
  }),
  fulfillment: consumer({
    queue: (world) => ordersOf(world).events,
    body: deliveredBody,
    checkDone: checkApplied,
    title: ({ id, type }) => `${type} ${id} as `,
    slots: firstFree(40, 41),
    batchSize: (world) => ordersOf(world).settings.batchSize,
  }),
};

function freeWorkers(world: World): number[] {
  const clocks = new Set<number>();
  return world.scenario.clocks.flatMap((clock, slot) => {
    if (isRunning(world, slot) || clocks.has(clock)) return []; // two with one clock are the same
    clocks.add(clock);
    return slot;
  });
}

/** Their clocks have no error: which of them it is does not matter. */
function firstFree(...slots: number[]): Consumer<Sent>["slots"] {
  return (world) => slots.filter((slot) => isFree(world, slot)).slice(0, 1);
}

const isRunning = ({ invocations }: World, slot: number): boolean =>
  invocations.some((one) => one.slot === slot && one.state === "running");

/** A batch is over when Lambda's poller has done what its answer asks for. */
export const isFree = (world: World, slot: number): boolean =>
  !isRunning(world, slot) &&
  !world.calls.some(({ by, service }) => by.slot === slot && service === "poller");

/** @throws Error for a function that no queue feeds */
export function consumerOf(role: Role): Consumer<Sent> {
  const found = CONSUMERS[role];
  if (!found) throw new Error(`Bug! No queue feeds the ${role}.`);
  return found;
}

/** Checks what an answer says is done, before the queue deletes it. */
export function checkDone(
  world: World,
  invocation: Invocation,
  failed: readonly string[] | undefined,
): void {
  for (const { message } of doneOf(invocation, failed)) {
    if (message.place === "queue") consumerOf(invocation.role).checkDone(world, message);
  }
}

/** What an answer leaves as done: nothing, when the whole batch failed. */
export const doneOf = (
  { deliveries }: Invocation,
  failed: readonly string[] | undefined,
): readonly Delivery[] =>
  failed ? deliveries.filter(({ message }) => !failed.includes(message.sqsMessageId)) : [];

/** Receives messages and hands them to a function. */
export function deliver(
  world: World,
  start: Start,
  { role, slot }: Pick<Invocation, "role" | "slot">,
  messages: readonly QueuedMessage<Sent>[],
): void {
  const { queue, title } = consumerOf(role);
  const deliveries = messages.map((message) => ({
    message,
    receipt: queue(world).receive(message),
  }));
  const receipts = deliveries.map(({ receipt }) => receipt).join("+");
  const key =
    role === "worker" ? `${receipts}@${world.scenario.clocks[slot]}` : `${role} ${receipts}`;
  const what = messages.map(
    ({ sent, sqsMessageId, receiveCount }) =>
      `${title(sent)}${sqsMessageId} (receive ${receiveCount})`,
  );
  invoke(world, start, { role, slot, key, deliveries }, what);
}
