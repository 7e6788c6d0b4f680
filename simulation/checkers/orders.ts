// The shop: what the door accepts is paid, goods leave once and only when they are, and the books
// balance.

import type { PublishedEvent } from "../models/bus.ts";
import type { QueuedMessage } from "../models/queue.ts";
import type { Item } from "../models/table.ts";
import type { Invocation } from "../world/invocation.ts";
import type { Orders } from "../world/orders.ts";
import { askedFor, DAY } from "../world/scenario.ts";
import { ordersOf } from "../world/world.ts";
import type { World } from "../world/world.ts";
import { checkExpiry } from "./records.ts";
import { checkLeft, violate } from "./rules.ts";

/** A write to the orders table. */
export function checkOrder(world: World, before: Item | undefined, after: Item | undefined): void {
  const { shipped } = ordersOf(world);
  const { pk, messageId } = (after ?? before ?? {}) as Record<string, string>;
  const [kind] = (pk ?? "").split("#");
  const id = String(messageId);
  // As long as an event may be published again.
  if (after) checkExpiry(world, after, 34 * DAY);
  if (kind === "shipment" && after) {
    const times = (shipped.get(id) ?? 0) + 1;
    shipped.set(id, times);
    if (times > 1) violate(world, "paid_for", `${id} is shipped ${times} times`);
  }
  if (kind === "order" && before?.["status"] === "paid" && after?.["status"] !== "paid") {
    violate(world, "paid_stays", `${id} is ${String(after?.["status"])} now`);
  }
}

/** Whatever is in the table after a command, or a transaction, was written together. */
export function checkBooked(world: World): void {
  const { table, settings } = ordersOf(world);
  let there = 0;
  const sums = new Map<string, { debit: number; credit: number }>();
  for (const item of table.items()) {
    const { side, amount, messageId, onHand } = item as Record<string, unknown>;
    if (String(item["pk"]).startsWith("shipment#")) there += Number(item["quantity"]);
    if (onHand !== undefined) there += Number(onHand);
    if (Number(onHand) < 0) violate(world, "stock", `${Number(onHand)} on hand`);
    if (side !== "debit" && side !== "credit") continue;
    const sum = sums.get(String(messageId)) ?? { debit: 0, credit: 0 };
    sum[side] += Number(amount);
    sums.set(String(messageId), sum);
  }
  if (there !== settings.onHand) {
    violate(world, "stock", `${there} of ${settings.onHand} are on hand or shipped`);
  }
  for (const { messageId, amount } of settings.orders) {
    const charged = chargedFor(world, messageId);
    const order = table.item(`order#${messageId}`);
    const isShipped = table.item(`shipment#${messageId}`) !== undefined;
    const isPaid = order?.["status"] === "paid";
    if ((isPaid || isShipped) && charged !== amount) {
      const seen = `${messageId} over ${amount} is ${isShipped ? "shipped" : "paid"}, and ${charged} charged`;
      violate(world, "paid_for", seen);
    }
    const { debit, credit } = sums.get(messageId) ?? { debit: 0, credit: 0 };
    if (debit !== credit || debit > charged || (isPaid && debit !== amount)) {
      const seen = `debits of ${debit} and credits of ${credit} for ${messageId}, and ${charged} charged`;
      violate(world, "books", seen);
    }
  }
}

/** What Stripe has for a message, in cents. */
function chargedFor({ stripe }: World, messageId: string): number {
  const paid = stripe.intents.filter(
    ({ metadata, status }) => metadata["message_id"] === messageId && status === "succeeded",
  );
  return paid.reduce((sum, { amount }) => sum + amount, 0);
}

/** The fulfillment says that an event is done, or its queue is about to delete it. */
export function checkApplied(world: World, { sent }: QueuedMessage<PublishedEvent>): void {
  const { messageId, result, paymentIntentId } = sent.data;
  const order = ordersOf(world).table.item(`order#${String(messageId)}`);
  const status = order?.["status"];
  const isApplied =
    result === "succeeded"
      ? status === "paid" && order?.["paymentIntentId"] === paymentIntentId
      : !UNPAID.has(String(result)) || status === "unpaid" || status === "paid";
  if (!isApplied)
    violate(world, "applied", `${sent.id} says ${sent.type}, the order is ${String(status)}`);
}

const UNPAID: ReadonlySet<string> = new Set(["declined", "failed", "canceled"]);

/** The door answers; nobody may have heard it. */
export function checkAnswer(world: World, { request, response }: Invocation): void {
  if (!request || !response) return;
  const { messageId } = request;
  const asked = askedFor(request);
  const { accepted } = ordersOf(world);
  const { type } = JSON.parse(response.body ?? "{}") as { type?: string };
  const what = [response.statusCode, type?.split(":").at(-1)].filter(Boolean).join(" ");
  world.recorder.count(`door: ${what}`);
  const seen = `${what} for ${asked}`;
  const others = world.scenario.sends.filter((one) => one.messageId === messageId && !one.invalid);
  const lost = world.lost.has(messageId);
  switch (what) {
    case "202":
      if (request.invalid) violate(world, "said_why", seen);
      if (!lost && (accepted.get(messageId) ?? asked) !== asked)
        violate(world, "one_payment", seen);
      accepted.set(messageId, asked);
      return;
    case "422 invalid-payment":
      if (!request.invalid) violate(world, "said_why", seen);
      return;
    case "422 key-reused":
      if (others.every((one) => askedFor(one) === asked)) violate(world, "said_why", seen);
      if (!lost && world.queue.messages.some(({ sent }) => askedFor(sent) === asked)) {
        violate(world, "one_payment", `${seen}, which is in the queue`);
      }
      return;
    case "503 unavailable":
      return;
    default:
      violate(world, "planned", seen);
  }
}

/** Nothing can happen any more. */
export function checkOrdersEnd(world: World, { events, accepted }: Orders): void {
  checkLeft(world, events, ({ id }) => id);
  for (const { place, sent } of events.messages) {
    if (place === "dead-letter queue" && !contradicts(world, sent)) {
      violate(world, "recovers", `${sent.type} ${sent.id} ended in the dead-letter queue`);
    }
  }
  for (const messageId of accepted.keys()) {
    const outcome = world.table.item(messageId)?.["outcome"] ?? world.lostOutcomes.get(messageId);
    const isDead = world.queue.messages.some(
      ({ sent, place }) => sent.messageId === messageId && place === "dead-letter queue",
    );
    if (outcome === undefined && !isDead) violate(world, "accepted", `${messageId} has none`);
  }
}

/** An event of another amount than the order's, or one that says something else than an earlier one of its id. */
function contradicts(world: World, { id, data }: PublishedEvent): boolean {
  const { orders, outcomes } = world;
  const messageId = String(data["messageId"]);
  const order = orders?.table.item(`order#${messageId}`);
  // A record that was lost begins again with revision 1: see docs/proof.md.
  const contents = outcomes?.bus.published.get(id)?.size ?? 1;
  return order?.["amount"] !== chargedFor(world, messageId) || contents > 1;
}
