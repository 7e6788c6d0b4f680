// What can happen next between a queue and its function, for those around the worker.

import type { QueuedMessage } from "../models/queue.ts";
import { consumerOf, deliver } from "./consumers.ts";
import type { Invocation, Sent, Start } from "./invocation.ts";
import type { Step } from "./steps.ts";
import type { World } from "./world.ts";

/** A function, the environments that it may have at once, and how much one of them gets. */
export type Fed = { role: Invocation["role"]; slots: readonly number[]; batchSize: number };

/** Each message that can be received may be the first of the next batch. */
export function receiveSteps(world: World, fed: Fed, start: Start): Step[] {
  const slot = freeSlot(world, fed);
  if (slot === undefined) return [];
  const visible = consumerOf(fed.role).queue(world).receivable();
  return visible.map((message) => ({
    weight: 5,
    run: () => receive(world, fed, slot, message, start),
  }));
}

/** SQS delivers again what a function still has. */
export function deliverAgain(
  world: World,
  fed: Fed,
  start: Start,
  push: (run: () => void) => void,
): void {
  const slot = freeSlot(world, fed);
  if (slot === undefined) return;
  for (const message of consumerOf(fed.role).queue(world).messages) {
    const worked = message.place === "queue" && message.visibleAt > world.now;
    if (worked) push(() => receive(world, fed, slot, message, start));
  }
}

function receive(
  world: World,
  { role, batchSize }: Fed,
  slot: number,
  first: QueuedMessage<Sent>,
  start: Start,
): void {
  const others = consumerOf(role).queue(world).receivable();
  const more = batchSize - 1 - world.vary(batchSize);
  const batch = [first, ...others.filter((one) => one !== first).slice(0, more)];
  deliver(world, start, { role, slot }, batch);
}

const freeSlot = (world: World, { slots }: Fed): number | undefined =>
  slots.find((slot) => isFree(world, slot));

export function isFree({ invocations, calls }: World, slot: number): boolean {
  const running = invocations.some((one) => one.slot === slot && one.state === "running");
  // A batch of the stream is over when Lambda has its checkpoint.
  return !running && !calls.some(({ by, service }) => by.slot === slot && service === "poller");
}
