// Safety: statements that are checked at every step against Stripe's ledger.

import { settled } from "../models/stripe-objects.ts";
import type { Intent } from "../models/stripe-objects.ts";
import type { Item } from "../models/table.ts";
import { customerOf, DAY, START } from "../world/scenario.ts";
import type { Invocation, Message, Observers, World } from "../world/world.ts";
import { violate } from "./rules.ts";

export const observers: Observers = {
  onCreate(world, intent) {
    const same = world.stripe.intents.filter(({ customer }) => customer === intent.customer);
    if (same.length > 1) {
      violate(
        world,
        "one_charge",
        same.map(({ id, amount }) => `${id} over ${amount}`).join(" and "),
      );
    }
  },

  onRequest(world, request) {
    if (request.method === "GET") return;
    const form = new URLSearchParams(request.body);
    const customer = form.get("customer") ?? "";
    const sends = world.scenario.sends.filter(
      ({ messageId }) => customerOf(messageId) === customer,
    );
    const [{ messageId } = { messageId: "?" }] = sends;

    const valid = sends.filter(({ invalid }) => !invalid);
    if (valid.length === 0) violate(world, "invalid", `${customer} over ${form.get("amount")}`);
    else if (!valid.some(({ amount }) => amount === form.get("amount"))) {
      violate(world, "what_was_sent", `${form.get("amount")} for ${messageId}`);
    }
    const newest = Math.max(...valid.map(({ createdAt }) => createdAt));
    if (world.now - START - newest > 30 * DAY + 60_000) {
      violate(
        world,
        "deduplication_window",
        `${messageId} reaches Stripe ${ageOf(world, newest)} d after it was sent`,
      );
    }
    const { writer } = world;
    if (writer && messageId !== "?" && !world.claimants.has(holding(messageId, writer))) {
      violate(world, "claimed_first", `${writer.name} charges ${messageId}`);
    }
    const first = world.creates.get(customer);
    world.creates.set(customer, first ?? request);
    if (first && first.body !== request.body) {
      violate(world, "what_was_sent", `two different payments for ${messageId}`);
    }
  },

  onWrite(world, before, after) {
    checkOwner(world, before, after);
    if (!after) return;
    const holder = world.owners.get(String(after["owner"]));
    if (holder) world.claimants.add(holding(String(after["messageId"]), holder));
    const seconds = Number(after["expiresAt"]);
    const left = seconds - world.now / 1_000;
    if (
      after["expiresAt"] !== undefined &&
      !(Number.isInteger(seconds) && left > 0 && left < 31_536_000)
    ) {
      violate(
        world,
        "record_lives",
        `expiresAt is ${seconds}, and it is ${world.now / 1_000} s now`,
      );
    }
    const outcome = after["outcome"] as Outcome | undefined;
    if (!outcome) return;
    const earlier = before?.["outcome"];
    if (earlier && JSON.stringify(earlier) !== JSON.stringify(outcome)) {
      violate(
        world,
        "same_outcome",
        `${JSON.stringify(earlier)} became ${JSON.stringify(outcome)}`,
      );
    }
    if (!isTrue(world, String(after["messageId"]), outcome)) {
      violate(world, "true_outcome", `${String(after["messageId"])}: ${JSON.stringify(outcome)}`);
    }
  },
};

const holding = (messageId: string, { name }: Invocation): string => `${name} ${messageId}`;

type Outcome = { result: string; paymentIntentId?: string };

const ageOf = (world: World, createdAt: number): number =>
  Math.round((world.now - START - createdAt) / DAY);

function checkOwner(world: World, before: Item | undefined, after: Item | undefined): void {
  if (!before || !world.writer) return;
  const owner = world.owners.get(String(before["owner"]));
  if (owner === world.writer || !owner) return;
  const takesOver = after !== undefined && after["owner"] !== before["owner"];
  if (!takesOver) {
    return violate(world, "only_owner", `${world.writer.name} wrote to the claim of ${owner.name}`);
  }
  const claimed = before["leaseExpiresAt"] !== 0 && before["status"] === "IN_PROGRESS";
  if (claimed && owner.state === "running" && world.now < owner.deadline) {
    violate(world, "live_claim", `${world.writer.name} took the claim of ${owner.name}`);
  }
}

function isTrue(world: World, messageId: string, outcome: Outcome): boolean {
  const intent = ledgerOf(world, messageId);
  if (!intent || intent.id !== outcome.paymentIntentId) return false;
  const now = settled(intent, world.now + world.scenario.stripeClock);
  return [intent, now].some(({ status }) => RESULTS[status] === outcome.result);
}

const RESULTS: Readonly<Record<Intent["status"], string>> = {
  succeeded: "succeeded",
  processing: "processing",
  requires_action: "requires_action",
  requires_payment_method: "declined",
};

function ledgerOf(world: World, messageId: string): Intent | undefined {
  const customer = customerOf(messageId);
  return world.stripe.intents.find((intent) => intent.customer === customer);
}

/** The worker says that a message is done, or the queue is about to delete it. */
export function checkAcknowledged(world: World, { sent, sqsMessageId }: Message): void {
  const outcome = world.table.item(sent.messageId)?.["outcome"] as Outcome | undefined;
  if (!outcome) return violate(world, "acknowledged", `${sqsMessageId} has no outcome`);
  const intent = ledgerOf(world, sent.messageId);
  if (!isTrue(world, sent.messageId, outcome) || String(intent?.amount) !== sent.amount) {
    violate(
      world,
      "acknowledged",
      `${sqsMessageId} over ${sent.amount} has ${intent?.amount ?? "nothing"} at Stripe`,
    );
  }
}

/** The handler says that another worker has the claim. */
export function checkInProgress(world: World, invocation: Invocation, { sent }: Message): void {
  const owner = String(world.table.item(sent.messageId)?.["owner"]);
  if (world.owners.get(owner) === invocation) {
    violate(world, "own_claim", `${invocation.name} waits for ${owner}`);
  }
}
