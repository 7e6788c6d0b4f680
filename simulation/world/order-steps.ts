// What can go wrong at the door and around the fulfillment.

import type { Start } from "./invocation.ts";
import { arrive, ask } from "./orders.ts";
import type { Orders } from "./orders.ts";
import { deliverAgain } from "./queue-steps.ts";
import type { World } from "./world.ts";

export function orderFaults(
  world: World,
  orders: Orders,
  start: Start,
  push: (name: string, run: () => void) => void,
): void {
  const published = [...orders.published.values()];
  if (published.length > 0) {
    push(ORDER_FAULTS.published, () => {
      const event = published[world.vary(published.length)];
      if (event) arrive(orders, event);
    });
  }
  deliverAgain(world, "fulfillment", start, (run) => push(ORDER_FAULTS.again, run));
  for (const { request, state } of world.invocations) {
    if (request && state === "running") {
      push(ORDER_FAULTS.impatient, () => ask(world, request, start));
    }
  }
}

export const ORDER_FAULTS = {
  published: "outcome event published again",
  again: "outcome event delivered twice",
  impatient: "client asks again at once",
} as const;
