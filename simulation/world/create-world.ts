// Makes the world of one schedule.

import type { Timings } from "../../lib/timing/payments.ts";
import type { Rule } from "../checkers/rules.ts";
import { strangers } from "../models/stripe-objects.ts";
import { createStripe } from "../models/stripe.ts";
import { createTable } from "../models/table.ts";
import type { Choose } from "../search/choices.ts";
import { createOrders } from "./orders.ts";
import { begins, createOutcomes, logChange } from "./outcomes.ts";
import { formOf, START } from "./scenario.ts";
import type { Scenario, Send } from "./scenario.ts";
import { newQueue, newState } from "./world.ts";
import type { Observers, Recorder, World } from "./world.ts";

const STRANGERS = {
  none: strangers("none", START),
  alike: strangers("alike", START),
  pages: strangers("pages", START),
};

export function createWorld(
  scenario: Scenario,
  timings: Timings,
  choose: Choose,
  vary: World["vary"],
  recorder: Recorder,
  observers: Observers,
  only: Rule | undefined,
): World {
  const now = () => world.now;
  const world: World = {
    ...newState(scenario),
    only,
    timings,
    choose,
    vary,
    recorder,
    table: createTable({
      partitionKey: "messageId",
      ttlAttribute: "expiresAt",
      now,
      deletesExpired: scenario.deletesExpired,
      onWrite(before, after) {
        observers.onWrite(world, before, after);
        if (world.outcomes) logChange(world.outcomes, before, after);
        const messageId = String((after ?? before)?.["messageId"]);
        if (before) world.previous.set(messageId, before);
        else world.previous.delete(messageId);
      },
    }),
    queue: newQueue<Send>({ timings, scenario }, now, scenario.maxReceiveCount),
    stripe: createStripe({
      now: () => world.now + scenario.stripeClock,
      prunesKeys: scenario.prunesKeys,
      strangers: STRANGERS[scenario.strangers],
      onCreate(intent, { body }) {
        const messageId = world.idOf.get(intent.payment_method) ?? "?";
        world.charged.set(messageId, [...(world.charged.get(messageId) ?? []), formOf(body)]);
        observers.onCreate(world, intent);
        if (world.outcomes) begins(world.outcomes, intent);
      },
      onRequest: (request) => observers.onRequest(world, request),
    }),
  };
  if (scenario.outcomes) world.outcomes = createOutcomes(world, scenario.outcomes, observers);
  if (scenario.orders) world.orders = createOrders(world, scenario.orders, observers);
  return world;
}
