// The part of the world that a shop sees: its clients at the door, and its orders, whose payments'
// outcomes come from the bus.

import type { PublishedEvent } from "../models/bus.ts";
import type { Queue } from "../models/queue.ts";
import { byHand } from "../models/stripe-events.ts";
import { createTable } from "../models/table.ts";
import type { Table } from "../models/table.ts";
import { invoke } from "./invocation.ts";
import type { Invocation, Start } from "./invocation.ts";
import { describeSend, SECOND, START } from "./scenario.ts";
import type { OrderSettings, Send } from "./scenario.ts";
import { newQueue } from "./world.ts";
import type { Observers, World } from "./world.ts";

export type Orders = ReturnType<typeof newOrders> & {
  table: Table;
  /** The queue of the fulfillment. */
  events: Queue<PublishedEvent>;
};

const newOrders = (settings: OrderSettings) => ({
  settings,
  /** Each event that was published, once. */
  published: new Map<string, PublishedEvent>(),
  /** By message id: how often goods have left. */
  shipped: new Map<string, number>(),
  /** By message id: the payment that the door has accepted. */
  accepted: new Map<string, string>(),
  /** Message ids that the door took for new when Stripe had a charge: the record was lost. */
  forgotten: new Set<string>(),
});

const SKU = "tea";

export function createOrders(
  world: World,
  settings: OrderSettings,
  { onOrder, onBooked }: Observers,
): Orders {
  const now = () => world.now;
  const table = createTable({
    partitionKey: "pk",
    ttlAttribute: "expiresAt",
    now,
    deletesExpired: world.scenario.deletesExpired,
    onWrite: (before, after) => onOrder(world, before, after),
    onWritten: () => onBooked(world),
  });
  const orders: Orders = { ...newOrders(settings), table, events: newQueue(world, now) };
  table.restore(`sku#${SKU}`, { pk: `sku#${SKU}`, sku: SKU, onHand: settings.onHand });
  for (const { messageId, amount, quantity } of settings.orders) {
    const pk = `order#${messageId}`;
    const order = { messageId, orderId: `order-of-${messageId}`, amount, currency: "eur" };
    table.restore(pk, { pk, ...order, status: "pending", sku: SKU, quantity });
  }
  for (const given of settings.published) arrive(orders, publishedBefore(world, given));
  return orders;
}

/** An event of a payment that was made before the start: Stripe has what its last one says. */
function publishedBefore(
  { stripe, now }: World,
  { messageId, result, revision = 1 }: OrderSettings["published"][number],
): PublishedEvent {
  const paymentIntentId = `pi_${messageId}`;
  const intent = {
    ...byHand(paymentIntentId, messageId, now),
    status: STATUSES[result] ?? "canceled",
  };
  const earlier = stripe.intents.findIndex(({ id }) => id === paymentIntentId);
  if (earlier >= 0) stripe.intents.splice(earlier, 1);
  stripe.intents.push(intent);
  const { amount, currency } = intent;
  return {
    specversion: "1.0",
    id: `${messageId}:${revision}`,
    source: "urn:payment-worker:simulation",
    type: `payment.${result}`,
    subject: messageId,
    time: new Date(now).toISOString(),
    revision,
    data: { messageId, result, paymentIntentId, amount, currency },
  };
}

const STATUSES: Readonly<Record<string, ReturnType<typeof byHand>["status"]>> = {
  succeeded: "succeeded",
  processing: "processing",
  failed: "requires_payment_method",
};

/** An event is on the bus, which puts it into the fulfillment's queue. */
export function arrive({ settings, events, published }: Orders, event: PublishedEvent): void {
  published.set(event.id, event);
  if (settings.actors.includes("fulfillment")) events.send(event);
}

/** As EventBridge delivers it to a queue. */
export function deliveredBody(event: PublishedEvent): string {
  return JSON.stringify({
    version: "0",
    source: "payment-worker",
    "detail-type": event.type,
    detail: event,
  });
}

const DOOR = 30;
const DOOR_TIMEOUT_MS = 15 * SECOND;
export const CLIENT_TIMEOUT_MS = 10 * SECOND;

/** A client asks for a payment. */
export function ask(world: World, request: Send, start: Start): void {
  const { messageId } = request;
  const about = describeSend(request);
  const earlier = world.invocations.filter((one) => one.request?.messageId === messageId).length;
  const deadline = world.now + DOOR_TIMEOUT_MS;
  const key = `door ${about} ${earlier + 1}`;
  invoke(world, start, { role: "door", slot: DOOR, key, deadline, request }, [about]);
}

/** The client has no answer, or none that it can use: it asks again, with the same key. */
export function askAgain(world: World, invocation: Invocation): void {
  const { request, askedAgain } = invocation;
  if (!request || askedAgain) return;
  if (world.damaged.has(request.messageId)) return; // an operator has to repair the record first
  invocation.askedAgain = true;
  const again = { ...request, at: world.now - START + CLIENT_TIMEOUT_MS };
  world.sendsLeft = [...world.sendsLeft, again].toSorted((a, b) => a.at - b.at);
}

/** The door sends a message. */
export function sendThroughDoor({ queue }: World, { request }: Invocation, body: string) {
  if (!request) throw new Error("Bug! Only the door sends messages.");
  const { id } = JSON.parse(body) as { id: string };
  return queue.send({ ...request, messageId: id, body });
}
