// The world of one schedule: a clock, a table, a queue, Stripe, the workers' invocations, and every
// request in flight.

import type { Timings } from "../../lib/timing/payments.ts";
import type { Rule } from "../checkers/rules.ts";
import type { PublishedEvent } from "../models/bus.ts";
import type { Queue, QueuedMessage } from "../models/queue.ts";
import type { Intent } from "../models/stripe-objects.ts";
import type { Request, StripeModel } from "../models/stripe.ts";
import type { Item, Table } from "../models/table.ts";
import type { Choose } from "../search/choices.ts";
import type { Call, Invocation, Sent } from "./invocation.ts";
import type { Orders } from "./orders.ts";
import type { Outcomes } from "./outcomes.ts";
import { START } from "./scenario.ts";
import type { Scenario, Send } from "./scenario.ts";

export type Message = QueuedMessage<Send>;

/** What happened, for coverage and for a trace. */
export type Recorder = {
  count: (what: string) => void;
  /** Whether what the workers see is digested, to distinguish their states. */
  digests: boolean;
  /** Absent when nobody reads the trace: it costs more than running. */
  trace?: (who: string, what: string) => void;
};

export type World = {
  scenario: Scenario;
  /** The one rule that is looked at; every rule when absent. */
  only: Rule | undefined;
  timings: Timings;
  choose: Choose;
  /** Choices that are of no interest when every schedule is enumerated. */
  vary: (options: number) => number;
  recorder: Recorder;
  now: number;
  table: Table;
  queue: Queue<Send>;
  stripe: StripeModel;
  invocations: Invocation[];
  calls: Call[];
  /** Whose attempt a record's owner is. */
  owners: Map<string, Invocation>;
  /** Who has had the claim of which message, at any time. */
  claimants: Set<string>;
  /** By payment method: the message id that pays with it. */
  idOf: ReadonlyMap<string, string>;
  /** By message id: the form of the first request to create a PaymentIntent. */
  creates: Map<string, string>;
  /** By message id: the forms of the requests that made a PaymentIntent. */
  charged: Map<string, string[]>;
  /** By message id: the record before the last write. */
  previous: Map<string, Item>;
  /** Message ids whose record was lost or rolled back, and the outcomes that went with them. */
  lost: Set<string>;
  lostOutcomes: Map<string, unknown>;
  /** Whose request is being carried out. */
  writer: Invocation | undefined;
  sendsLeft: Send[];
  redrivesLeft: number[];
  faultsLeft: number;
  received: number;
  /** By message: how often it had been received when the last fault was over. */
  receivesAtFault: Map<Message, number>;
  /** Message ids for which Stripe stored an error: only the key's end can help. */
  poisoned: Set<string>;
  /** Message ids whose record is damaged, and the invocations that may have seen it before. */
  damaged: Map<string, Set<Invocation>>;
  /** What Stripe rejected is asked for once per chain of receives. */
  rejected: Set<Message>;
  logged: Map<QueuedMessage<Sent>, string>;
  /** The publisher's and the finalizer's part; absent when the worker is alone. */
  outcomes: Outcomes | undefined;
  /** The door's and the fulfillment's. */
  orders: Orders | undefined;
  /** Whether the operator has swept what is open. */
  swept: boolean;
};

/** What the models report to the safety checks. */
export type Observers = {
  onCreate: (world: World, intent: Intent) => void;
  onRequest: (world: World, request: Request) => void;
  onWrite: (world: World, before: Item | undefined, after: Item | undefined) => void;
  onPublish: (world: World, event: PublishedEvent) => void;
  onOrder: (world: World, before: Item | undefined, after: Item | undefined) => void;
  onBooked: (world: World) => void;
};

/** @throws Error where the worker is alone */
export function outcomesOf({ outcomes }: World): Outcomes {
  if (!outcomes) throw new Error("Bug! The worker is alone here.");
  return outcomes;
}

/** @throws Error where nobody orders anything */
export function ordersOf({ orders }: World): Orders {
  if (!orders) throw new Error("Bug! Nobody orders anything here.");
  return orders;
}

/** Whether the worker's key is of the wrong mode now. */
export function hasWrongKey({ scenario, now }: World): boolean {
  const [from, until] = scenario.wrongKey ?? [0, 0];
  return now >= START + from && now < START + until;
}

/** Notes a fault, or its end: a message has to recover within its receives from here on. */
export function disturbed(world: World): void {
  for (const message of world.queue.messages) {
    world.receivesAtFault.set(message, message.receiveCount);
  }
}
