// Makes the world of one schedule.

import type { Timings } from "../../lib/timing/payments.ts";
import type { Rule } from "../checkers/rules.ts";
import { createQueue } from "../models/queue.ts";
import { strangers } from "../models/stripe-objects.ts";
import { createStripe } from "../models/stripe.ts";
import { createTable } from "../models/table.ts";
import type { Choose } from "../search/choices.ts";
import { createOrders } from "./orders.ts";
import { begins, createOutcomes, logChange } from "./outcomes.ts";
import { formOf, START } from "./scenario.ts";
import type { Scenario, Send } from "./scenario.ts";
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
  const idOf = new Map(scenario.sends.map((send) => [send.paymentMethod, send.messageId]));
  const world: World = {
    scenario,
    only,
    timings,
    choose,
    vary,
    recorder,
    now: START,
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
    queue: createQueue<Send>({
      now,
      visibilityTimeoutMs: timings.visibilityTimeoutMs,
      maxReceiveCount: scenario.maxReceiveCount,
      retentionMs: timings.queueRetentionMs,
      takesStaleReceipts: scenario.takesStaleReceipts,
    }),
    stripe: createStripe({
      now: () => world.now + scenario.stripeClock,
      prunesKeys: scenario.prunesKeys,
      strangers: STRANGERS[scenario.strangers],
      onCreate(intent, { body }) {
        const messageId = idOf.get(intent.payment_method) ?? "?";
        world.charged.set(messageId, [...(world.charged.get(messageId) ?? []), formOf(body)]);
        observers.onCreate(world, intent);
        if (world.outcomes) begins(world.outcomes, intent);
      },
      onRequest: (request) => observers.onRequest(world, request),
    }),
    invocations: [],
    calls: [],
    owners: new Map(),
    claimants: new Set(),
    idOf,
    creates: new Map(),
    charged: new Map(),
    previous: new Map(),
    lost: new Set(),
    lostOutcomes: new Map(),
    writer: undefined,
    sendsLeft: scenario.sends.toSorted((a, b) => a.at - b.at),
    redrivesLeft: [...scenario.redrivesAt],
    faultsLeft: scenario.faults,
    received: 0,
    receivesAtFault: new Map(),
    poisoned: new Set(),
    damaged: new Map(),
    rejected: new Set(),
    logged: new Map(),
    outcomes: undefined,
    orders: undefined,
    swept: false,
  };
  if (scenario.outcomes) world.outcomes = createOutcomes(world, scenario.outcomes, observers);
  if (scenario.orders) world.orders = createOrders(world, scenario.orders, observers);
  return world;
}
