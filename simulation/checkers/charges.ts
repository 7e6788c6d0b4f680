// Safety at Stripe: what is asked for, by whom, and what comes of it.

import type { Intent } from "../models/stripe-objects.ts";
import type { Request } from "../models/stripe.ts";
import type { Invocation } from "../world/invocation.ts";
import { askedFor, DAY, formOf, START } from "../world/scenario.ts";
import { hasWrongKey } from "../world/world.ts";
import type { World } from "../world/world.ts";
import { violate } from "./rules.ts";

export function checkCreated(world: World, intent: Intent): void {
  const messageId = world.idOf.get(intent.payment_method);
  const same = world.stripe.intents.filter(
    (one) => world.idOf.get(one.payment_method) === messageId,
  );
  if (same.length > 1 && !isUnknowable(world, messageId ?? "?")) {
    const list = same.map(({ id, amount }) => `${id} over ${amount}`);
    violate(world, "one_charge", list.join(" and "));
  }
}

/**
 * Whether nobody can know of an earlier charge: the record is lost, and the message has come for
 * another customer, by whom Stripe lists, or under another sender's time. See docs/proof.md.
 */
function isUnknowable({ lost, scenario, orders }: World, messageId: string): boolean {
  if (!lost.has(messageId)) return false;
  const isOfDoor = orders?.settings.actors.includes("door");
  if (isOfDoor && !orders?.forgotten.has(messageId)) return false;
  const sends = scenario.sends.filter((send) => send.messageId === messageId);
  return sends.some(
    ({ customer, createdAt }) =>
      customer !== sends[0]?.customer || createdAt !== sends[0]?.createdAt,
  );
}

export function checkRequest(world: World, { method, body }: Request): void {
  if (hasWrongKey(world)) violate(world, "right_mode", method);
  if (method === "GET") return;
  const form = formOf(body);
  const paymentMethod = new URLSearchParams(body).get("payment_method") ?? "";
  const messageId = world.idOf.get(paymentMethod) ?? "?";
  const sends = world.scenario.sends.filter((send) => send.messageId === messageId);

  const valid = sends.filter(({ invalid }) => !invalid);
  if (valid.length === 0) violate(world, "invalid", `${messageId}: ${form}`);
  else if (!valid.some((send) => askedFor(send) === form)) {
    violate(world, "what_was_sent", `${form} for ${messageId}`);
  }
  const newest = Math.max(...valid.map(({ createdAt }) => createdAt));
  if (world.now - START - newest > 30 * DAY + 60_000) {
    const days = Math.round((world.now - START - newest) / DAY);
    violate(
      world,
      "deduplication_window",
      `${messageId} reaches Stripe ${days} d after it was sent`,
    );
  }
  const { writer } = world;
  if (writer && !world.claimants.has(claimant(messageId, writer))) {
    violate(world, "claimed_first", `${writer.name} charges ${messageId}`);
  }
  const first = world.creates.get(messageId);
  world.creates.set(messageId, first ?? form);
  // A record that was lost took its fingerprint with it: Stripe distinguishes the payments then.
  if (first !== undefined && first !== form && !world.lost.has(messageId)) {
    violate(world, "what_was_sent", `two different payments for ${messageId}`);
  }
}

export const claimant = (messageId: string, { name }: Invocation): string => `${name} ${messageId}`;

/** The PaymentIntent of a message in Stripe's ledger, whatever a worker believes. */
export function ledgerOf(world: World, messageId: string): Intent | undefined {
  return world.stripe.intents.find((one) => world.idOf.get(one.payment_method) === messageId);
}
