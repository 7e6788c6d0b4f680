// What became of a payment: outcomes only move forward, what was recorded is published, and nothing
// stays open.

import type { PublishedEvent } from "../models/bus.ts";
import type { QueuedMessage } from "../models/queue.ts";
import type { StripeEvent } from "../models/stripe-events.ts";
import type { Item } from "../models/table.ts";
import type { Outcomes } from "../world/outcomes.ts";
import { outcomesOf } from "../world/world.ts";
import type { World } from "../world/world.ts";
import { checkLeft, violate } from "./rules.ts";
import { isTrue, resultsOf } from "./true-outcome.ts";
import type { Outcome } from "./true-outcome.ts";

const ORDER = [
  ["requires_action"],
  ["processing"],
  ["declined", "failed"],
  ["succeeded", "canceled"],
];

const orderOf = (result: string): number => ORDER.findIndex((level) => level.includes(result));

/** A write of the finalizer. */
export function checkAdvance(
  world: World,
  before: Item | undefined,
  after: Item | undefined,
): void {
  const from = before?.["outcome"] as Outcome | undefined;
  const to = after?.["outcome"] as Outcome | undefined;
  const messageId = String((after ?? before)?.["messageId"]);
  if (!before || !from || !to || before["status"] !== "COMPLETED") {
    return violate(world, "invented", `${messageId}: ${JSON.stringify(before)} was there`);
  }
  if (orderOf(from.result) >= orderOf(to.result)) {
    violate(world, "same_outcome", `${messageId}: ${from.result} became ${to.result}`);
  }
  if (from.paymentIntentId !== undefined && from.paymentIntentId !== to.paymentIntentId) {
    const became = `${from.paymentIntentId} became ${to.paymentIntentId}`;
    violate(world, "true_outcome", `${messageId}: ${became}`);
  }
  if (after?.["revision"] !== Number(before["revision"]) + 1) {
    const revisions = `${String(before["revision"])} became ${String(after?.["revision"])}`;
    violate(world, "revision", `${messageId}: revision ${revisions}`);
  }
  if (!isTrue(world, messageId, to)) {
    violate(world, "true_outcome", `${messageId}: ${JSON.stringify(to)}`);
  }
}

/** An event on the bus. */
export function checkPublished(world: World, event: PublishedEvent): void {
  const { id, type, subject, time, revision, data } = event;
  const { outcomes } = world;
  if (!outcomes) return;
  const said = `${id} says ${type} of ${subject}, revision ${revision}`;
  if (id !== `${subject}:${revision}`) return violate(world, "one_event", said);
  const items = outcomes.recorded.get(id) ?? [];
  const isRecorded = items.some((item) => {
    const { result, paymentIntentId } = item["outcome"] as Outcome;
    return (
      type === `payment.${result}` &&
      data["messageId"] === item["messageId"] &&
      data["result"] === result &&
      data["paymentIntentId"] === paymentIntentId &&
      data["amount"] === item["amount"] &&
      data["currency"] === item["currency"] &&
      Date.parse(time) === item["completedAt"]
    );
  });
  if (!isRecorded) violate(world, "recorded_first", said);
  // A record that was lost begins again with revision 1: see docs/proof.md.
  const contents = outcomes.bus.published.get(id)?.size ?? 0;
  if (contents > 1 && !world.lost.has(subject)) {
    violate(world, "one_event", `${said}, and has ${contents} contents`);
  }
}

/** The finalizer says that an event is done, or its queue is about to delete it. */
export function checkEventDone(world: World, message: QueuedMessage<StripeEvent>): void {
  const outcomes = outcomesOf(world);
  const { eventId, intent, number } = message.sent;
  const messageId = intent.metadata["message_id"];
  if (messageId === undefined || world.lost.has(messageId)) return;
  const decisions = [...(outcomes.decisions.get(message) ?? [])];
  const record = world.table.item(messageId);
  if (record?.["status"] !== "COMPLETED") {
    const isOurs = world.scenario.sends.some((send) => send.messageId === messageId);
    if (isOurs) violate(world, "event_done", `${eventId}: ${messageId} has no outcome yet`);
    return;
  }
  const { result, paymentIntentId } = record["outcome"] as Outcome;
  if (paymentIntentId !== undefined && paymentIntentId !== intent.id) {
    if (!decisions.includes("double_charge")) {
      const seen = `${eventId} of ${intent.id} ends as ${decisions.join()}, ${messageId} has ${paymentIntentId}`;
      violate(world, "double_charge", seen);
    }
    return;
  }
  // Stripe is asked after the event came, and may say anything that it has been since.
  const since = (outcomes.history.get(intent.id) ?? []).slice(number);
  if (since.every((status) => orderOf(result) < orderOf(resultsOf(status)[0] ?? ""))) {
    violate(world, "event_done", `${eventId} says ${intent.status}, and ${messageId} is ${result}`);
  }
}

/** Nothing can happen any more. */
export function checkOutcomesEnd(world: World, outcomes: Outcomes): void {
  const publishes = outcomes.settings.actors.includes("publisher");
  for (const key of outcomes.recorded.keys()) {
    if (publishes && !outcomes.bus.published.has(key))
      violate(world, "published", `${key} was not`);
  }
  for (const item of world.table.items()) {
    const outcome = item["outcome"] as Outcome | undefined;
    const intent = world.stripe.intents.find(({ id }) => id === outcome?.paymentIntentId);
    if (outcome && intent && !resultsOf(intent.status).includes(outcome.result)) {
      const seen = `${String(item["messageId"])} is ${outcome.result}, and ${intent.id} ${intent.status}`;
      violate(world, "finalized", seen);
    }
  }
  checkLeft(world, outcomes.events, ({ eventId }) => eventId);
}
