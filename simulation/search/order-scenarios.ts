// The scenarios with the door and the fulfillment: those that are explored exhaustively, and a random
// one, in which an order goes all the way.

import { MOVING } from "../models/stripe-objects.ts";
import { DAY, HOUR, MINUTE, PAYMENT } from "../world/scenario.ts";
import type { OrderSettings, OutcomeSettings, Scenario, Send } from "../world/scenario.ts";
import type { Choose } from "./choices.ts";
import { randomOutcomes } from "./outcome-scenarios.ts";
import { oneOf, randomSends, usually } from "./random-scenario.ts";
import { USUAL as ONE_MESSAGE } from "./scenarios.ts";

/** One worker; the deliveries are those of clients, messages and events. */
const USUAL = { ...ONE_MESSAGE, clocks: [0] };

const order = (messageId: string, amount = 500, quantity = 1) => ({ messageId, amount, quantity });

const ORDERS: OrderSettings = {
  actors: [],
  orders: [order("pay-1")],
  onHand: 5,
  batchSize: 1,
  published: [],
};

type Variant = Partial<Scenario> & { name: string };

const DOOR: readonly Variant[] = [
  { name: "a client with a key" },
  { name: "two clients with one key", sends: [PAYMENT, PAYMENT], deliveries: 2 },
  {
    name: "a key for two payments",
    sends: [PAYMENT, { ...PAYMENT, amount: "700", at: MINUTE }],
    maxReceiveCount: 4,
  },
  {
    name: "an invalid payment, and a valid one with its key",
    sends: [
      { ...PAYMENT, amount: "78.4", invalid: true },
      { ...PAYMENT, at: MINUTE },
    ],
  },
  {
    name: "a client that asks again a day later",
    sends: [PAYMENT, { ...PAYMENT, at: 25 * HOUR }],
    maxReceiveCount: 1,
    deliveries: 4,
  },
  {
    name: "two callers with one key",
    sends: ["ann", "bob"].map((caller, i) => ({
      ...PAYMENT,
      messageId: `${caller}/pay-1`,
      paymentMethod: `pm_card_${i + 1}`,
      at: i * MINUTE,
    })),
    deliveries: 0,
  },
];

const OUTCOMES: OutcomeSettings = {
  actors: ["publisher"],
  filtered: true,
  batchSize: 1,
  byHand: "none",
};

/** From a client to the shipment. */
const ALL_THE_WAY: Variant = { name: "an order, all the way", outcomes: OUTCOMES, deliveries: 4 };

const FULFILLMENT: readonly (Variant & { settings: Partial<OrderSettings> })[] = [
  { name: "an order that is paid", settings: { published: [event("succeeded")] } },
  {
    name: "an order whose event comes twice",
    settings: { published: [event("succeeded"), event("succeeded")] },
  },
  { name: "an order that is not paid yet", settings: { published: [event("processing")] } },
  {
    name: "an order that is paid at last",
    settings: { published: [event("processing"), event("succeeded", 2)] },
  },
  {
    name: "an order whose payment fails first",
    settings: { published: [event("failed"), event("succeeded", 2)] },
  },
  {
    name: "two events of an order in one batch",
    settings: { batchSize: 2, published: [event("processing"), event("succeeded", 2)] },
  },
  {
    name: "an order over another amount",
    settings: { orders: [order("pay-1", 700)], published: [event("succeeded")] },
  },
  {
    name: "two orders, and stock for one",
    settings: {
      orders: [order("pay-1", 500, 2), order("pay-10", 500, 2)],
      onHand: 3,
      published: [event("succeeded"), { ...event("succeeded"), messageId: "pay-10" }],
    },
  },
  {
    name: "an event that is published again after 36 days",
    redrivesAt: [36 * DAY],
    settings: { published: [event("succeeded")] },
  },
];

function event(result: string, revision = 1): OrderSettings["published"][number] {
  return { messageId: "pay-1", result, revision };
}

/** Every scenario, each with at most `faults` faults. */
export function orderScenarios(faults: number): Scenario[] {
  const throughDoor = (variant: Variant, actors: OrderSettings["actors"]): Scenario => {
    const sends = (variant.sends ?? USUAL.sends).map((send) => ({ ...send, createdAt: send.at }));
    return { ...USUAL, ...variant, sends, orders: { ...ORDERS, actors }, faults };
  };
  return [
    ...DOOR.map((variant) => throughDoor(variant, ["door"])),
    throughDoor(ALL_THE_WAY, ["door", "fulfillment"]),
    ...FULFILLMENT.map(({ settings, ...variant }): Scenario => {
      const orders: OrderSettings = { ...ORDERS, actors: ["fulfillment"], ...settings };
      return { ...USUAL, sends: [], ...variant, orders, faults };
    }),
  ];
}

const OTHERS: readonly [Partial<Send>, ...Partial<Send>[]] = [
  {},
  { amount: "700" },
  { customer: "cus_9" },
  { amount: "78.4", invalid: true },
];

/** Draws a scenario with at most `depth` faults, by the same number of choices each time. */
export function randomOrders(choose: Choose, depth: number): Scenario {
  const kinds = ["card", "declined", ...Object.keys(MOVING)] as const;
  const sends = randomSends(choose, kinds, () => oneOf(choose, OTHERS));
  const quantity = oneOf(choose, [1, 2]);
  return {
    ...randomOutcomes(choose, depth),
    name: "random orders",
    sends: sends.map((send) => ({ ...send, createdAt: send.at })),
    redrivesAt: oneOf<number[]>(choose, [[], [HOUR], [25 * HOUR]]),
    outcomes: {
      ...OUTCOMES,
      actors: ["publisher", "finalizer"],
      batchSize: oneOf(choose, [1, 3]),
    },
    orders: {
      actors: ["door", "fulfillment"],
      orders: ["pay-1", "pay-10", "PAY-1"].map((id) => order(id, 500, quantity)),
      onHand: oneOf(choose, [6, 3, 1]),
      batchSize: usually(choose, 1, 3),
      published: [],
    },
  };
}
