// A world's state as one number: two schedules that come to the same state go on alike.

import { hasReason, mustSucceed } from "../checkers/liveness.ts";
import type { Orders } from "../world/orders.ts";
import type { Outcomes } from "../world/outcomes.ts";
import type { World } from "../world/world.ts";

/** 53 bits of the state: with a million states, one false match in ten thousand explorations. */
export function stateOf(world: World): number {
  const { table, stripe, queue, calls, invocations } = world;
  return hash53(
    JSON.stringify([
      world.now,
      world.received,
      world.sendsLeft.map(({ at }) => at),
      world.redrivesLeft.length,
      table.items(),
      stripe.intents.map((one) =>
        [one.created, one.status, one.payment_method, one.amount, one.currency].join(),
      ),
      [...world.previous].map(([id, { owner, status, leaseExpiresAt, attempt, firstClaimedAt }]) =>
        [id, owner, status, leaseExpiresAt, attempt, firstClaimedAt].join(),
      ),
      [...world.lost],
      [...world.damaged.keys()],
      [...world.lostOutcomes.keys()],
      [...stripe.keys].map(([key, { firstUsedAt, response }]) =>
        [key, firstUsedAt, response?.status].join(),
      ),
      queue.messages.map((message) => {
        const { place, enqueuedAt, visibleAt, receipt } = message;
        const rest = [mustSucceed(world, message), hasReason(world, message)];
        return [place, enqueuedAt, visibleAt, receipt, ...rest].join();
      }),
      // Which of two requests was sent first does not matter.
      calls
        .map(({ by, name, state, timesOutAt, waiting, finishBy, reply }) =>
          [by.key, name, state, timesOutAt, waiting, finishBy, reply !== undefined].join(),
        )
        .toSorted(),
      invocations
        .filter(({ state }) => state === "running" || state === "abandoned")
        .map(({ key, state, deadline, frozenAt, seen }) =>
          [key, state, deadline, frozenAt, seen].join(),
        )
        .toSorted(),
      [...world.poisoned],
      world.outcomes && outcomesState(world.outcomes),
      world.orders && ordersState(world.orders),
      world.swept,
    ]),
  );
}

function outcomesState(outcomes: Outcomes): unknown {
  const { events, unsent, movesLeft, byHandLeft, changes, checkpoint, bus, recorded } = outcomes;
  return [
    events.messages.map(({ place, visibleAt, receipt, sent }) =>
      [place, visibleAt, receipt, sent.intent.id, sent.intent.status].join(),
    ),
    unsent.map(({ intent }) => [intent.id, intent.status].join()).toSorted(),
    [...movesLeft].map(([{ id }, left]) => [id, ...left].join()),
    byHandLeft.length,
    changes.slice(checkpoint),
    checkpoint,
    outcomes.unanswered,
    outcomes.bisected,
    [...bus.published].map(([id, contents]) => [id, ...contents].join()),
    [...recorded.keys()],
    outcomes.needsSweep,
  ];
}

function ordersState({ table, events, published, shipped, accepted }: Orders): unknown {
  return [
    table.items(),
    events.messages.map(({ place, visibleAt, receipt, sent }) =>
      [place, visibleAt, receipt, sent.id].join(),
    ),
    [...published.keys()],
    [...shipped],
    [...accepted],
  ];
}

/** cyrb53, which is in the public domain. */
function hash53(text: string): number {
  let low = 0xdeadbeef;
  let high = 0x41c6ce57;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    low = Math.imul(low ^ code, 2654435761);
    high = Math.imul(high ^ code, 1597334677);
  }
  low = Math.imul(low ^ (low >>> 16), 2246822507) ^ Math.imul(high ^ (high >>> 13), 3266489909);
  high = Math.imul(high ^ (high >>> 16), 2246822507) ^ Math.imul(low ^ (low >>> 13), 3266489909);
  return 4294967296 * (2097151 & high) + (low >>> 0);
}
