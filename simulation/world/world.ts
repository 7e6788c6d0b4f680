// The world of one schedule: a clock, a table, a queue, Stripe, the workers' invocations, and every
// request in flight.

import type { Timings } from "../../lib/timing/payments.ts";
import type { Rule } from "../checkers/rules.ts";
import type { PublishedEvent } from "../models/bus.ts";
import { createQueue } from "../models/queue.ts";
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

export type World = ReturnType<typeof newState> & {
  /** The one rule that is looked at; every rule when absent. */
  only: Rule | undefined;
  timings: Timings;
  choose: Choose;
  /** Choices that are of no interest when every schedule is enumerated. */
  vary: (options: number) => number;
  recorder: Recorder;
  table: Table;
  queue: Queue<Send>;
  stripe: StripeModel;
  /** The publisher's and the finalizer's part; absent when the worker is alone. */
  outcomes?: Outcomes;
  /** The door's and the fulfillment's. */
  orders?: Orders;
};

/** What a scenario begins with, before anything has happened. */
export function newState(scenario: Scenario) {
  return {
    scenario,
    now: START,
    invocations: [] as Invocation[],
    calls: [] as Call[],
    /** Whose attempt a record's owner is. */
    owners: new Map<string, Invocation>(),
    /** Who has had the claim of which message, at any time. */
    claimants: new Set<string>(),
    /** By payment method: the message id that pays with it. */
    idOf: new Map(scenario.sends.map((send) => [send.paymentMethod, send.messageId])),
    /** By message id: the form of the first request to create a PaymentIntent. */
    creates: new Map<string, string>(),
    /** By message id: the forms of the requests that made a PaymentIntent. */
    charged: new Map<string, string[]>(),
    /** By message id: the record before the last write. */
    previous: new Map<string, Item>(),
    /** Message ids whose record was lost or rolled back, and the outcomes that went with them. */
    lost: new Set<string>(),
    lostOutcomes: new Map<string, unknown>(),
    /** Whose request is being carried out. */
    writer: undefined as Invocation | undefined,
    sendsLeft: scenario.sends.toSorted((a, b) => a.at - b.at),
    redrivesLeft: [...scenario.redrivesAt],
    faultsLeft: scenario.faults,
    received: 0,
    /** By message: how often it had been received when the last fault was over. */
    receivesAtFault: new Map<Message, number>(),
    /** Message ids for which Stripe stored an error: only the key's end can help. */
    poisoned: new Set<string>(),
    /** Message ids whose record is damaged, and the invocations that may have seen it before. */
    damaged: new Map<string, Set<Invocation>>(),
    /** What Stripe rejected is asked for once per chain of receives. */
    rejected: new Set<Message>(),
    logged: new Map<QueuedMessage<Sent>, string>(),
    /** Whether the operator has swept what is open. */
    swept: false,
  };
}

/** What the models report to the safety checks. */
export type Observers = {
  onCreate: (world: World, intent: Intent) => void;
  onRequest: (world: World, request: Request) => void;
  onWrite: (world: World, before: Item | undefined, after: Item | undefined) => void;
  onPublish: (world: World, event: PublishedEvent) => void;
  onOrder: (world: World, before: Item | undefined, after: Item | undefined) => void;
  onBooked: (world: World) => void;
};

/** A queue, of a function around the worker where it is not said how often it delivers a message. */
export function newQueue<S>(
  { timings, scenario }: Pick<World, "timings" | "scenario">,
  now: () => number,
  maxReceiveCount = 5,
): Queue<S> {
  const { visibilityTimeoutMs, queueRetentionMs: retentionMs } = timings;
  const { takesStaleReceipts } = scenario;
  const settings = { visibilityTimeoutMs, maxReceiveCount, retentionMs, takesStaleReceipts };
  return createQueue({ now, ...settings });
}

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
