// What can happen next, and go wrong, around the publisher and the finalizer, at the door and around the
// fulfillment.

import { ledgerOf } from "../checkers/charges.ts";
import { resultsOf } from "../checkers/true-outcome.ts";
import type { StripeEvent } from "../models/stripe-events.ts";
import { isFree } from "./consumers.ts";
import { invoke } from "./invocation.ts";
import type { Start } from "./invocation.ts";
import { arrive, ask } from "./orders.ts";
import type { Orders } from "./orders.ts";
import { chargeByHand, emit, moveOn } from "./outcomes.ts";
import type { Change, Outcomes } from "./outcomes.ts";
import { deliverAgain, receiveSteps } from "./queue-steps.ts";
import type { Step } from "./queue-steps.ts";
import type { World } from "./world.ts";

const PUBLISHER = 20;

/** Adds the steps that are possible now. */
export function outcomeSteps(world: World, outcomes: Outcomes, start: Start, steps: Step[]): void {
  steps.push(...receiveSteps(world, "finalizer", start));
  if (outcomes.checkpoint < outcomes.changes.length && isFree(world, PUBLISHER)) {
    steps.push({ weight: 5, run: () => poll(world, outcomes, start) });
  }
  for (const event of outcomes.unsent) {
    steps.push({ weight: 4, run: () => send(world, outcomes, event) });
  }
  for (const intent of outcomes.movesLeft.keys()) {
    const run = () => {
      moveOn(outcomes, intent);
      world.recorder.trace?.("Stripe", `${intent.id} is ${intent.status} now`);
    };
    steps.push({ weight: 2, run });
  }
  const [messageId] = outcomes.byHandLeft;
  const isSecond = messageId === "pay-1";
  if (outcomes.byHandLeft.length > 0 && (!isSecond || ledgerOf(world, messageId))) {
    const run = () => {
      const { id, metadata } = chargeByHand(world, outcomes);
      world.recorder.trace?.("operator", `makes ${id} by hand ${JSON.stringify(metadata)}`);
    };
    steps.push({ weight: 2, run });
  }
}

/** What can go wrong with an event on its way. */
export function eventFaults(
  world: World,
  outcomes: Outcomes,
  start: Start,
  push: (name: string, run: () => void) => void,
): void {
  for (const event of outcomes.unsent) {
    push(EVENT_FAULTS.lost, () => {
      take(outcomes, event);
      outcomes.needsSweep = true;
    });
    push(EVENT_FAULTS.twice, () => void outcomes.events.send(event));
  }
  deliverAgain(world, "finalizer", start, (run) => push(EVENT_FAULTS.again, run));
}

export const EVENT_FAULTS = {
  lost: "event lost",
  twice: "event sent twice",
  again: "event delivered twice",
} as const;

/** What can go wrong at the door and around the fulfillment. */
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

/**
 * Nothing can happen any more. What an event would have told and did not is asked of Stripe by the
 * scheduled sweep, which hands each open payment to the finalizer; what is dead comes back.
 */
export function sweepStep(world: World): Step | undefined {
  const { outcomes, orders, swept } = world;
  const queues = [outcomes?.events, orders?.events].filter((one) => one !== undefined);
  const dead = queues.some(({ messages }) =>
    messages.some(({ place }) => place === "dead-letter queue"),
  );
  const open = outcomes && (outcomes.needsSweep || world.lost.size > 0);
  if (swept || !(dead || open)) return undefined;
  const run = () => {
    world.swept = true;
    world.faultsLeft = 0;
    world.recorder.trace?.("operator", "sweeps what is open, and redrives the events");
    for (const queue of queues) queue.redrive();
    for (const item of outcomes ? world.table.items() : []) {
      const { paymentIntentId, result } = (item["outcome"] ?? {}) as Record<string, unknown>;
      const intent = world.stripe.intents.find(({ id }) => id === paymentIntentId);
      if (outcomes && intent && !resultsOf(intent.status).includes(String(result))) {
        emit(outcomes, intent);
      }
    }
  };
  return { weight: 1, run };
}

function take(outcomes: Outcomes, event: StripeEvent): void {
  outcomes.unsent.splice(outcomes.unsent.indexOf(event), 1);
}

function send(world: World, outcomes: Outcomes, event: StripeEvent): void {
  take(outcomes, event);
  const { sqsMessageId } = outcomes.events.send(event);
  const { id, status } = event.intent;
  const what = `sends ${event.eventId} (${id} ${status}) as event ${sqsMessageId}`;
  world.recorder.trace?.("Stripe", what);
}

function poll(world: World, outcomes: Outcomes, start: Start): void {
  const { checkpoint, settings } = outcomes;
  if (outcomes.unanswered > 1) outcomes.bisected = Math.ceil(outcomes.unanswered / 2);
  const size = outcomes.bisected ?? settings.batchSize - world.vary(settings.batchSize);
  const changes = outcomes.changes.slice(checkpoint, checkpoint + size);
  outcomes.unanswered = changes.length;
  const key = `changes ${checkpoint}+${changes.length}`;
  const what = changes.map(
    ({ after }, i) => `change ${checkpoint + i + 1} (${describeChange(after)})`,
  );
  const batch = { role: "publisher", slot: PUBLISHER, key } as const;
  invoke(world, start, { ...batch, changes, changesFrom: checkpoint }, what);
}

function describeChange(after: Change["after"]): string {
  if (!after) return "removed";
  const { messageId, status, revision, outcome } = after as Record<string, string | undefined>;
  const { result } = (outcome ?? {}) as { result?: string };
  return [messageId, status, revision && `revision ${revision}`, result].filter(Boolean).join(" ");
}
