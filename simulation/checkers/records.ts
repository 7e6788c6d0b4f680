// Safety in the table: who may write what, and that outcomes are Stripe's.

import type { Item } from "../models/table.ts";
import type { Invocation } from "../world/invocation.ts";
import { paymentsOf } from "../world/invocation.ts";
import type { World } from "../world/world.ts";
import { claimant, ledgerOf } from "./charges.ts";
import { checkAdvance } from "./outcomes.ts";
import { violate } from "./rules.ts";
import { isTrue } from "./true-outcome.ts";
import type { Outcome } from "./true-outcome.ts";

export function checkWrite(world: World, before: Item | undefined, after: Item | undefined): void {
  if (world.writer?.role === "finalizer") return checkAdvance(world, before, after);
  checkOwner(world, before, after);
  if (!after) return;
  const messageId = String(after["messageId"]);
  if (!before && world.writer?.role === "door" && ledgerOf(world, messageId)) {
    world.orders?.forgotten.add(messageId);
  }
  const owner = world.owners.get(String(after["owner"]));
  if (owner) world.claimants.add(claimant(messageId, owner));
  checkExpiry(world, after);
  const outcome = after["outcome"] as Outcome | undefined;
  if (!outcome) return;
  const earlier = before?.["outcome"];
  if (earlier && JSON.stringify(earlier) !== JSON.stringify(outcome)) {
    const moved = `${JSON.stringify(earlier)} became ${JSON.stringify(outcome)}`;
    violate(world, "same_outcome", moved);
  }
  const revision = before?.["outcome"] ? before["revision"] : 1;
  if (after["revision"] !== revision) {
    violate(world, "revision", `${messageId} has revision ${String(after["revision"])}`);
  }
  if (!isTrue(world, messageId, outcome)) {
    violate(world, "true_outcome", `${messageId}: ${JSON.stringify(outcome)}`);
  }
}

/** @param leastMs how long it has to live */
export function checkExpiry(world: World, { expiresAt }: Item, leastMs = 1): void {
  if (expiresAt === undefined) return;
  const left = Number(expiresAt) - world.now / 1_000;
  if (Number.isInteger(expiresAt) && left >= leastMs / 1_000 && left < 31_536_000) return;
  const seen = `expiresAt is ${Number(expiresAt)}, and it is ${world.now / 1_000} s now`;
  violate(world, "record_lives", seen);
}

function checkOwner(world: World, before: Item | undefined, after: Item | undefined): void {
  const { writer } = world;
  if (!before || !writer) return;
  const owner = world.owners.get(String(before["owner"]));
  const takesOver = after !== undefined && after["owner"] !== before["owner"];
  if (owner === writer || !owner) return;
  if (!takesOver) {
    return violate(world, "only_owner", `${writer.name} wrote to the claim of ${owner.name}`);
  }
  checkRejection(world, writer, before);
  if (world.damaged.get(String(before["messageId"]))?.has(writer) === false) {
    violate(world, "damaged", `${writer.name} took the damaged claim of ${owner.name}`);
  }
  const claimed = before["leaseExpiresAt"] !== 0 && before["status"] === "IN_PROGRESS";
  if (claimed && owner.state === "running" && world.now < owner.deadline) {
    violate(world, "live_claim", `${writer.name} took the claim of ${owner.name}`);
  }
}

function checkRejection(world: World, writer: Invocation, before: Item): void {
  const { messageId, leaseExpiresAt, lastError } = before;
  const { kind } = (lastError ?? {}) as { kind?: string };
  if (leaseExpiresAt !== 0 || kind !== "stripe_rejected") return;
  const receives = paymentsOf(writer)
    .filter(({ message }) => message.sent.messageId === messageId)
    .map(({ receipt }) => Number(receipt.split("#")[1]));
  if (receives.every((receive) => receive > 1)) {
    violate(world, "asked_once", `${writer.name} asks again at receive ${receives.join(", ")}`);
  }
}
