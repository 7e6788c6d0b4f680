// Safety at the queue: what the worker says of a delivery.

import type { Invocation } from "../world/invocation.ts";
import { paymentsOf } from "../world/invocation.ts";
import { askedFor } from "../world/scenario.ts";
import type { Send } from "../world/scenario.ts";
import type { Message, World } from "../world/world.ts";
import { ledgerOf } from "./charges.ts";
import { violate } from "./rules.ts";
import { isTrue } from "./true-outcome.ts";
import type { Outcome } from "./true-outcome.ts";

/** The worker says that a message is done, or the queue is about to delete it. */
export function checkAcknowledged(world: World, { sent, sqsMessageId }: Message): void {
  const { messageId } = sent;
  const outcome = (world.table.item(messageId)?.["outcome"] ??
    world.lostOutcomes.get(messageId)) as Outcome | undefined;
  if (!outcome) return violate(world, "acknowledged", `${sqsMessageId} has no outcome`);
  const charged = world.charged.get(messageId) ?? [];
  if (!isTrue(world, messageId, outcome) || !isPaid(world, sent, charged)) {
    const seen = `${sqsMessageId} asks for ${askedFor(sent)}; Stripe has ${charged.join(" and ") || "nothing"}`;
    violate(world, "acknowledged", seen);
  }
}

/** A record that was lost took its fingerprint with it: what is left to compare is the money. */
function isPaid(world: World, sent: Send, charged: readonly string[]): boolean {
  if (charged.includes(askedFor(sent))) return true;
  const money = [`amount=${sent.amount} &`, `currency=${sent.currency} &`];
  return (
    world.lost.has(sent.messageId) &&
    charged.some((form) => money.every((field) => form.includes(field)))
  );
}

/** The worker says that another one has the claim. */
export function checkInProgress(world: World, invocation: Invocation, { sent }: Message): void {
  const owner = String(world.table.item(sent.messageId)?.["owner"]);
  // The line comes at the end of a batch, in which a lost record can be claimed again.
  if (world.owners.get(owner) === invocation && !world.lost.has(sent.messageId)) {
    violate(world, "own_claim", `${invocation.name} waits for ${owner}`);
  }
}

/** A first receive asks Stripe; later ones of its chain, and copies in their batch, need not. */
export function checkRejected(world: World, invocation: Invocation, message: Message): void {
  const { messageId } = message.sent;
  const again = paymentsOf(invocation).some(
    (delivery) =>
      delivery.message.sent.messageId === messageId && delivery.message.receiveCount > 1,
  );
  if (again) world.rejected.add(message);
  if (!world.rejected.has(message)) {
    violate(world, "asked_once", `${message.sqsMessageId} is rejected, and nobody asked`);
  }
}

/** Whether Stripe has the PaymentIntent in a status that no worker can have a plan for. */
export function isOdd(world: World, { sent }: Message): boolean {
  const kind = sent.paymentMethod.split("_")[1] ?? "";
  return ODD.has(kind) && ledgerOf(world, sent.messageId) !== undefined;
}

const ODD = new Set(["reset", "captured", "confirmed"]);
