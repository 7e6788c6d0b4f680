// The part of the world that comes after the worker: the table's stream and the bus, and Stripe's
// events on their way to the finalizer.

import { createBus } from "../models/bus.ts";
import type { Bus } from "../models/bus.ts";
import type { Queue, QueuedMessage } from "../models/queue.ts";
import { byHand, movesOf } from "../models/stripe-events.ts";
import type { StripeEvent } from "../models/stripe-events.ts";
import { DECLINE } from "../models/stripe-objects.ts";
import type { Intent, Status } from "../models/stripe-objects.ts";
import type { Item } from "../models/table.ts";
import type { Invocation, Sent } from "./invocation.ts";
import { arrive } from "./orders.ts";
import type { OutcomeSettings } from "./scenario.ts";
import { newQueue } from "./world.ts";
import type { Observers, World } from "./world.ts";

/** One record of the stream. */
export type Change = { before: Item | undefined; after: Item | undefined };

export type Outcomes = ReturnType<typeof newOutcomes> & {
  /** The queue of the finalizer. */
  events: Queue<StripeEvent>;
  bus: Bus;
};

export function createOutcomes(
  world: World,
  settings: OutcomeSettings,
  { onPublish }: Observers,
): Outcomes {
  const bus = createBus((event) => {
    onPublish(world, event);
    if (world.orders) arrive(world.orders, event);
  });
  return { ...newOutcomes(settings), events: newQueue(world, () => world.now), bus };
}

const BY_HAND = { none: [], second: ["pay-1"], others: [undefined, "pay-of-another-stage"] };

function newOutcomes(settings: OutcomeSettings) {
  return {
    settings,
    /** Events that Stripe has yet to send, in the order of what they tell. */
    unsent: [] as StripeEvent[],
    eventsMade: 0,
    /** By PaymentIntent: the statuses that are still to come, and all that it has had. */
    movesLeft: new Map<Intent, Status[]>(),
    history: new Map<string, Status[]>(),
    /** Message id of a PaymentIntent that is still to be made by hand. */
    byHandLeft: [...BY_HAND[settings.byHand]],
    /** The stream's one shard, and where Lambda goes on. */
    changes: [] as Change[],
    checkpoint: 0,
    /** How many changes the next batch may have after one that failed: Lambda bisects. */
    bisected: undefined as number | undefined,
    /** The changes of a batch that nobody has answered for. */
    unanswered: 0,
    /** By message id and revision: the items in which it was recorded, two only after a loss. */
    recorded: new Map<string, Item[]>(),
    /** What the log says of an event, for each of its deliveries. */
    decisions: new Map<QueuedMessage<Sent>, Set<string>>(),
    /** Whether something happened that only a sweep can make good. */
    needsSweep: false,
  };
}

/** A PaymentIntent exists. */
export function begins(outcomes: Outcomes, intent: Intent): void {
  const moves = outcomes.settings.actors.includes("finalizer") ? movesOf(intent) : [];
  if (moves.length > 0) outcomes.movesLeft.set(intent, moves);
  becomes(outcomes, intent);
}

/** It has another status, which an event tells. */
function becomes(outcomes: Outcomes, intent: Intent): void {
  const had = outcomes.history.get(intent.id) ?? [];
  outcomes.history.set(intent.id, [...had, intent.status]);
  emit(outcomes, intent);
}

/** Makes an event; the sweep, of what was told before. */
export function emit(outcomes: Outcomes, intent: Intent): void {
  if (!outcomes.settings.actors.includes("finalizer")) return;
  const number = (outcomes.history.get(intent.id) ?? []).length - 1;
  const eventId = `evt_${++outcomes.eventsMade}`;
  outcomes.unsent.push({ eventId, intent: { ...intent }, number });
}

export function moveOn(outcomes: Outcomes, intent: Intent): void {
  const moves = outcomes.movesLeft.get(intent) ?? [];
  intent.status = moves.shift() ?? intent.status;
  intent.last_payment_error = intent.status === "requires_payment_method" ? DECLINE : null;
  if (moves.length === 0) outcomes.movesLeft.delete(intent);
  becomes(outcomes, intent);
}

/** Somebody charges by hand, or another integration does. */
export function chargeByHand(world: World, outcomes: Outcomes): Intent {
  const messageId = outcomes.byHandLeft.shift();
  const id = `pi_hand_${outcomes.byHandLeft.length + 1}`;
  const intent = byHand(id, messageId, world.now);
  world.stripe.intents.push(intent);
  becomes(outcomes, intent);
  return intent;
}

/** A write that changes nothing makes no record. A restored table makes none either. */
export function logChange(
  outcomes: Outcomes,
  before: Item | undefined,
  after: Item | undefined,
): void {
  const { settings, changes, recorded } = outcomes;
  if (JSON.stringify(before) === JSON.stringify(after)) return;
  const completed = after?.["status"] === "COMPLETED";
  if (after && completed && before?.["revision"] !== after["revision"]) {
    const key = `${String(after["messageId"])}:${String(after["revision"])}`;
    recorded.set(key, [...(recorded.get(key) ?? []), after]);
  }
  if (!settings.actors.includes("publisher")) return;
  if (completed || !settings.filtered) changes.push({ before, after });
}

/** Where Lambda goes on after an answer of the publisher: at the lowest sequence number that failed. */
export function checkpointOf(
  { changes = [], changesFrom = 0 }: Invocation,
  failed: readonly string[],
): number {
  const at = failed.map((sequenceNumber) => Number(sequenceNumber) - 1);
  return at.length === 0 ? changesFrom + changes.length : Math.min(...at);
}
