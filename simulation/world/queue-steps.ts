// What can happen next between a queue and its function.

import type { QueuedMessage } from "../models/queue.ts";
import { consumerOf, deliver } from "./consumers.ts";
import type { Role, Sent, Start } from "./invocation.ts";
import type { World } from "./world.ts";

export type Step = { weight: number; run: () => void };

/** Each message that can be received may be the first of the next batch. */
export function receiveSteps(world: World, role: Role, start: Start): Step[] {
  const { queue, slots, batchSize } = consumerOf(role);
  const visible = queue(world).receivable();
  // The worker's batches are many: only the first message begins one.
  const isBatch = role === "worker" && batchSize(world) > 1;
  return (visible.length > 0 ? slots(world) : []).flatMap((slot) =>
    (isBatch ? visible.slice(0, 1) : visible).map((message) => ({
      weight: 5,
      run: () => receive(world, role, slot, message, start),
    })),
  );
}

/** SQS delivers again what a function still has. */
export function deliverAgain(
  world: World,
  role: Role,
  start: Start,
  push: (run: () => void) => void,
): void {
  const { queue, slots } = consumerOf(role);
  const [slot] = slots(world);
  if (slot === undefined) return;
  for (const message of queue(world).messages) {
    const worked = message.place === "queue" && message.visibleAt > world.now;
    if (worked) push(() => receive(world, role, slot, message, start));
  }
}

function receive(
  world: World,
  role: Role,
  slot: number,
  first: QueuedMessage<Sent>,
  start: Start,
): void {
  const { queue, batchSize } = consumerOf(role);
  const others = queue(world).receivable();
  const more = batchSize(world) - 1 - world.vary(batchSize(world));
  const batch = [first, ...others.filter((one) => one !== first).slice(0, more)];
  deliver(world, start, { role, slot }, batch);
}
