// Liveness: no message ends in silence, and none fails for good without a cause.

import { askedFor, DAY, START } from "../world/scenario.ts";
import type { Message, World } from "../world/world.ts";
import { isOdd } from "./deliveries.ts";
import { checkLeft, violate } from "./rules.ts";

/** Nothing can happen any more. */
export function checkEnd(world: World): void {
  checkLeft(world, world.queue, (_, sqsMessageId) => sqsMessageId);
  for (const message of world.queue.messages) {
    const { place, sqsMessageId, sent } = message;
    if (place !== "dead-letter queue") continue;
    const where = `${sqsMessageId} (${sent.messageId}) ended in the dead-letter queue`;
    if (!hasReason(world, message)) violate(world, "no_silence", `${where} without a reason`);
    if (mustSucceed(world, message)) {
      violate(world, "recovers", `${where}: ${world.logged.get(message)}`);
    }
  }
}

/** Whether a log line says what became of the message; for a worker that died, Lambda's own does. */
export function hasReason(world: World, message: Message): boolean {
  if (world.logged.has(message)) return true;
  return world.invocations.some(
    ({ state, deliveries }) =>
      (state === "dead" || state === "abandoned") &&
      deliveries.some((delivery) => delivery.message === message),
  );
}

/** Whether nothing but a bug of the worker can keep the message from its outcome. */
export function mustSucceed(world: World, message: Message): boolean {
  const { sent } = message;
  const others = world.scenario.sends.filter(({ messageId }) => messageId === sent.messageId);
  const contested = others.some((other) => askedFor(other) !== askedFor(sent));
  const old = message.enqueuedAt - START - sent.createdAt > 29 * DAY;
  const poisoned = world.poisoned.has(sent.messageId);
  const rejected = world.rejected.has(message) || world.damaged.has(sent.messageId);
  if (rejected || sent.invalid || contested || old || poisoned || isOdd(world, message))
    return false;
  const used = world.receivesAtFault.get(message) ?? 0;
  // For each clock the lease ends at another time, and a receive before it finds the claim live;
  // one takes it over, and one is to spare.
  const needed = new Set(world.scenario.clocks).size + 2;
  return world.scenario.maxReceiveCount - used >= needed;
}
