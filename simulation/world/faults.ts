// What can go wrong with a request, at every await.

import { ledgerOf } from "../checkers/charges.ts";
import type { Failure, Request } from "../models/stripe.ts";
import type { Item } from "../models/table.ts";
import { carryOut, connectionLost, forget, hand, kill } from "./calls.ts";
import type { Call } from "./invocation.ts";
import { paymentsOf } from "./invocation.ts";
import { MINUTE } from "./scenario.ts";
import { outcomesOf } from "./world.ts";
import type { World } from "./world.ts";

export type Fault = {
  name: string;
  services: readonly Call["service"][];
  only?: "put" | "charge" | "complete" | "transact";
  possible?: (world: World, call: Call) => boolean;
  inject: (world: World, call: Call) => void;
};

const EVERY = ["table", "orders", "stripe", "queue", "bus"] as const;
const INVALID = "invalid_request_error";

// A request that was accepted is done within this time, however late its caller hears of it.
const SLOWEST_MS = 15 * MINUTE;

/** A frozen worker thaws within this time or never: see docs/proof.md. */
export const LONGEST_FREEZE_MS = 50 * MINUTE;

const fault = (name: string, services: Fault["services"], inject: Fault["inject"]): Fault => ({
  name,
  services,
  inject,
});

export const FAULTS: readonly Fault[] = [
  fault("dies before the request", EVERY, (world, call) => {
    forget(world, call);
    kill(world, call.by);
  }),
  fault("dies before the reply", EVERY, (world, call) => {
    carryOut(world, call);
    forget(world, call);
    kill(world, call.by);
  }),
  fault("freezes before the request", EVERY, (world, call) => {
    call.by.frozenAt = world.now;
  }),
  fault("freezes before the reply", EVERY, (world, call) => {
    call.reply = carryOut(world, call);
    call.state = "answered";
    call.by.frozenAt = world.now;
  }),
  fault("request lost", EVERY, loseConnection),
  fault("reply lost", EVERY, (world, call) => {
    carryOut(world, call);
    loseConnection(world, call);
  }),
  fault("request never arrives", EVERY, (_world, call) => {
    call.state = "lost";
  }),
  fault("slow", [...EVERY, "poller"], (world, call) => {
    world.writer = call.by;
    call.finish = call.receive();
    call.finishBy = world.now + SLOWEST_MS;
    call.state = "slow";
  }),
  // The SDK's retry; for Stripe a stale socket.
  fault("reply lost, sent again by the client", EVERY, (world, call) => {
    carryOut(world, call);
    hand(world, call, carryOut(world, call));
  }),
  {
    name: "reply lost, sent again, and the first copy comes late",
    services: ["table"],
    only: "complete",
    inject(world, call) {
      world.writer = call.by;
      const carryOutLate = call.receive();
      const finish = () => {
        moveForward(world, call.record ?? "");
        return carryOutLate();
      };
      const finishBy = world.now + SLOWEST_MS;
      const late = { name: "complete, late", state: "slow", waiting: false } as const;
      world.calls.push({ ...call, ...late, finish, finishBy });
      hand(world, call, carryOut(world, call));
    },
  },
  fault("throttled", ["table", "orders", "queue", "bus"], (world, call) => {
    const error = Object.assign(new Error("Rate exceeded"), { name: "ThrottlingException" });
    hand(world, call, { error });
  }),
  entryFails("first", 0),
  entryFails("second", 1),
  conflictAt("the event", 0),
  conflictAt("the order", 1),
  conflictAt("the stock", 2),
  stripeAnswers("429", { status: 429, type: INVALID, code: "rate_limit" }),
  stripeAnswers("409 lock timeout", { status: 409, type: INVALID, code: "lock_timeout" }),
  stripeAnswers("503", { status: 503, type: "api_error" }),
  stripeAnswers("401", { status: 401, type: INVALID }),
  stripeAnswers("400", { status: 400, type: INVALID, code: "parameter_invalid" }),
  stripeStores("stored 500 without a charge", false),
  stripeStores("stored 500 after the charge", true),
  // A table that was restored, a replica that lags, a record that was deleted by hand, at any time
  // since the last request to the table: what lies between them does not see the record.
  {
    name: "record lost",
    services: ["table"],
    possible: (world, { record = "" }) => world.table.item(record) !== undefined,
    inject: (world, { record = "" }) => lose(world, record, undefined),
  },
  {
    name: "record damaged by hand",
    services: ["table"],
    only: "put",
    possible: (world, { record = "" }) => world.table.item(record)?.["status"] === "IN_PROGRESS",
    inject(world, call) {
      const { record = "" } = call;
      const { firstClaimedAt: _, ...item } = world.table.item(record) ?? {};
      const others = world.invocations.filter((one) => one !== call.by);
      world.damaged.set(record, new Set(others));
      world.table.restore(record, item);
    },
  },
  {
    name: "last write lost",
    services: ["table"],
    possible: (world, { record = "" }) => world.previous.has(record),
    inject: (world, { record = "" }) => lose(world, record, world.previous.get(record)),
  },
  fault("acknowledgement lost", ["poller"], loseConnection),
];

function loseConnection(world: World, call: Call): void {
  hand(world, call, connectionLost(call));
}

/** PutEvents answers 200, and one of its entries is not on the bus. */
function entryFails(which: string, failing: number): Fault {
  return {
    name: `the ${which} entry fails in a 200`,
    services: ["bus"],
    possible: (_world, { entries = [] }) => failing < entries.length,
    inject(world, call) {
      hand(world, call, { value: outcomesOf(world).bus.put(call.entries ?? [], failing) });
    },
  };
}

/** Another transaction is at work on one of the items, and this one is canceled for it. */
function conflictAt(what: string, item: number): Fault {
  return {
    name: `a conflict at ${what}`,
    services: ["orders"],
    only: "transact",
    possible: (_world, { items = 0 }) => item < items,
    inject(world, call) {
      const reply = call.conflict?.(item);
      if (!reply) throw new Error("Bug! A transaction that cannot conflict.");
      hand(world, call, reply);
    },
  };
}

function stripeAnswers(name: string, failure: Omit<Failure, "stored">): Fault {
  return {
    name: `Stripe answers ${name}`,
    services: ["stripe"],
    inject(world, call) {
      if (!call.request) throw new Error("Bug! A Stripe call without its request.");
      if (failure.status === 400 && call.request.method === "POST") {
        const id = chargedBy(world, call.request);
        for (const { message } of paymentsOf(call.by)) {
          if (message.sent.messageId === id) world.rejected.add(message);
        }
      }
      const value = world.stripe.failing(call.request, { ...failure, stored: false }, false);
      hand(world, call, { value });
    },
  };
}

/** What Stripe's later event does to an open outcome. */
function moveForward(world: World, messageId: string): void {
  if (world.outcomes) return; // the finalizer does it
  const item = world.table.item(messageId);
  const intent = ledgerOf(world, messageId);
  const { result, paymentIntentId } = (item?.["outcome"] ?? {}) as Record<string, unknown>;
  if (!item || !intent || intent.id !== paymentIntentId) return;
  if (result !== "processing" && result !== "requires_action") return;
  intent.status = "succeeded";
  const revision = Number(item["revision"] ?? 1) + 1;
  const outcome = { result: "succeeded", paymentIntentId };
  world.table.restore(messageId, { ...item, outcome, revision });
}

function lose(world: World, messageId: string, earlier: Item | undefined): void {
  const outcome = world.table.item(messageId)?.["outcome"];
  if (outcome && !earlier?.["outcome"]) world.lostOutcomes.set(messageId, outcome);
  world.lost.add(messageId);
  if (earlier?.["firstClaimedAt"] !== undefined || !earlier) world.damaged.delete(messageId);
  world.previous.delete(messageId);
  world.table.restore(messageId, earlier);
}

/** The message id of a request to create a PaymentIntent. */
function chargedBy(world: World, { body }: Request): string {
  return world.idOf.get(new URLSearchParams(body).get("payment_method") ?? "") ?? "?";
}

function stripeStores(what: string, charges: boolean): Fault {
  const failure = { status: 500, type: "api_error", stored: true };
  return {
    name: `Stripe answers ${what}`,
    services: ["stripe"],
    only: "charge",
    inject(world, call) {
      if (!call.request) throw new Error("Bug! A Stripe call without its request.");
      world.writer = call.by;
      world.poisoned.add(chargedBy(world, call.request));
      hand(world, call, { value: world.stripe.failing(call.request, failure, charges) });
    },
  };
}

export const DELIVERED_TWICE = "delivered twice";
