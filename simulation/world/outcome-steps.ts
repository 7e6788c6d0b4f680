// What can happen next around the publisher and the finalizer.

import { ledgerOf } from "../checkers/charges.ts";
import { resultsOf } from "../checkers/true-outcome.ts";
import type { QueuedMessage } from "../models/queue.ts";
import type { StripeEvent } from "../models/stripe-events.ts";
import { deliver } from "./consumers.ts";
import { invoke } from "./invocation.ts";
import type { Start } from "./invocation.ts";
import { chargeByHand, emit, moveOn } from "./outcomes.ts";
import type { Change, Outcomes } from "./outcomes.ts";
import type { Step } from "./steps.ts";
import type { World } from "./world.ts";

/** Above every worker's: these have clocks without an error. */
const FINALIZERS = [10, 11];
const PUBLISHER = 20;

/** Adds the steps that are possible now. */
export function outcomeSteps(world: World, outcomes: Outcomes, start: Start, steps: Step[]): void {
  const events = outcomes.events.receivable();
  const slot = FINALIZERS.find((one) => isFree(world, one));
  if (slot !== undefined) {
    for (const event of events) {
      steps.push({ weight: 5, run: () => deliverEvent(world, outcomes, slot, event, start) });
    }
  }
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
  const slot = FINALIZERS.find((one) => isFree(world, one));
  for (const message of outcomes.events.messages) {
    const worked = message.place === "queue" && message.visibleAt > world.now;
    if (worked && slot !== undefined) {
      push(EVENT_FAULTS.again, () => deliverEvent(world, outcomes, slot, message, start));
    }
  }
}

export const EVENT_FAULTS = {
  lost: "event lost",
  twice: "event sent twice",
  again: "event delivered twice",
} as const;

/**
 * Nothing can happen any more. What an event would have told and did not is asked of Stripe by the
 * scheduled sweep, which hands each open payment to the finalizer; the dead-letter queue is redriven.
 */
export function sweepStep(world: World, outcomes: Outcomes): Step | undefined {
  const dead = outcomes.events.messages.some(({ place }) => place === "dead-letter queue");
  if (outcomes.swept || !(dead || outcomes.needsSweep || world.lost.size > 0)) return undefined;
  const run = () => {
    outcomes.swept = true;
    world.faultsLeft = 0;
    world.recorder.trace?.("operator", "sweeps what is open, and redrives the events");
    outcomes.events.redrive();
    for (const item of world.table.items()) {
      const { paymentIntentId, result } = (item["outcome"] ?? {}) as Record<string, unknown>;
      const intent = world.stripe.intents.find(({ id }) => id === paymentIntentId);
      if (intent && !resultsOf(intent.status).includes(String(result))) emit(outcomes, intent);
    }
  };
  return { weight: 1, run };
}

function isFree({ invocations, calls }: World, slot: number): boolean {
  const running = invocations.some((one) => one.slot === slot && one.state === "running");
  // A batch of the stream is over when Lambda has its checkpoint.
  return !running && !calls.some(({ by, service }) => by.slot === slot && service === "poller");
}

function take(outcomes: Outcomes, event: StripeEvent): void {
  outcomes.unsent.splice(outcomes.unsent.indexOf(event), 1);
}

function send(world: World, outcomes: Outcomes, event: StripeEvent): void {
  take(outcomes, event);
  const { sqsMessageId } = outcomes.events.send(event);
  const { id, status } = event.intent;
  world.recorder.trace?.(
    "Stripe",
    `sends ${event.eventId} (${id} ${status}) as event ${sqsMessageId}`,
  );
}

function deliverEvent(
  world: World,
  { events, settings }: Outcomes,
  slot: number,
  first: QueuedMessage<StripeEvent>,
  start: Start,
): void {
  const others = events.receivable().filter((one) => one !== first);
  const more = settings.batchSize - 1 - world.vary(settings.batchSize);
  deliver(world, start, { role: "finalizer", slot }, [first, ...others.slice(0, more)]);
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
  const batch = {
    role: "publisher",
    slot: PUBLISHER,
    key,
    changes,
    changesFrom: checkpoint,
  } as const;
  invoke(world, start, batch, what);
}

function describeChange(after: Change["after"]): string {
  if (!after) return "removed";
  const { messageId, status, revision, outcome } = after as Record<string, string | undefined>;
  const { result } = (outcome ?? {}) as { result?: string };
  return [messageId, status, revision && `revision ${revision}`, result].filter(Boolean).join(" ");
}
