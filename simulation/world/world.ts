// The world of one schedule: a clock, a table, a queue, Stripe, the workers' invocations, and every
// request in flight.

import type { Timings } from "../../lib/timing/payments.ts";
import type { Rule } from "../checkers/rules.ts";
import type { PublishedEvent } from "../models/bus.ts";
import { createQueue } from "../models/queue.ts";
import type { Queue, QueuedMessage } from "../models/queue.ts";
import { strangers } from "../models/stripe-objects.ts";
import type { Intent } from "../models/stripe-objects.ts";
import { createStripe } from "../models/stripe.ts";
import type { Request, StripeModel } from "../models/stripe.ts";
import { createTable } from "../models/table.ts";
import type { Item, Table } from "../models/table.ts";
import type { Choose } from "../search/choices.ts";
import type { Call, Invocation, Sent } from "./invocation.ts";
import { begins, createOutcomes, logChange } from "./outcomes.ts";
import type { Outcomes } from "./outcomes.ts";
import { formOf, START } from "./scenario.ts";
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
  /** By message id: the form of the request that made the first PaymentIntent. */
  charged: Map<string, string>;
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
};

/** What the models report to the safety checks. */
export type Observers = {
  onCreate: (world: World, intent: Intent) => void;
  onRequest: (world: World, request: Request) => void;
  onWrite: (world: World, before: Item | undefined, after: Item | undefined) => void;
  onPublish: (world: World, event: PublishedEvent) => void;
};

const STRANGERS = {
  none: strangers("none", START),
  alike: strangers("alike", START),
  pages: strangers("pages", START),
};

export function createWorld(
  scenario: Scenario,
  timings: Timings,
  choose: Choose,
  vary: World["vary"],
  recorder: Recorder,
  observers: Observers,
  only: Rule | undefined,
): World {
  const now = () => world.now;
  const idOf = new Map(scenario.sends.map((send) => [send.paymentMethod, send.messageId]));
  const world: World = {
    scenario,
    only,
    timings,
    choose,
    vary,
    recorder,
    now: START,
    table: createTable({
      partitionKey: "messageId",
      ttlAttribute: "expiresAt",
      now,
      deletesExpired: scenario.deletesExpired,
      onWrite(before, after) {
        observers.onWrite(world, before, after);
        if (world.outcomes) logChange(world.outcomes, before, after);
        const messageId = String((after ?? before)?.["messageId"]);
        if (before) world.previous.set(messageId, before);
        else world.previous.delete(messageId);
      },
    }),
    queue: createQueue<Send>({
      now,
      visibilityTimeoutMs: timings.visibilityTimeoutMs,
      maxReceiveCount: scenario.maxReceiveCount,
      retentionMs: timings.queueRetentionMs,
      takesStaleReceipts: scenario.takesStaleReceipts,
    }),
    stripe: createStripe({
      now: () => world.now + scenario.stripeClock,
      prunesKeys: scenario.prunesKeys,
      strangers: STRANGERS[scenario.strangers],
      onCreate(intent, { body }) {
        const messageId = idOf.get(intent.payment_method) ?? "?";
        if (!world.charged.has(messageId)) world.charged.set(messageId, formOf(body));
        observers.onCreate(world, intent);
        if (world.outcomes) begins(world.outcomes, intent);
      },
      onRequest: (request) => observers.onRequest(world, request),
    }),
    invocations: [],
    calls: [],
    owners: new Map(),
    claimants: new Set(),
    idOf,
    creates: new Map(),
    charged: new Map(),
    previous: new Map(),
    lost: new Set(),
    lostOutcomes: new Map(),
    writer: undefined,
    sendsLeft: scenario.sends.toSorted((a, b) => a.at - b.at),
    redrivesLeft: [...scenario.redrivesAt],
    faultsLeft: scenario.faults,
    received: 0,
    receivesAtFault: new Map(),
    poisoned: new Set(),
    damaged: new Map(),
    rejected: new Set(),
    logged: new Map(),
    outcomes: undefined,
  };
  if (scenario.outcomes) world.outcomes = createOutcomes(world, scenario.outcomes, observers);
  return world;
}

/** @throws Error where the worker is alone */
export function outcomesOf({ outcomes }: World): Outcomes {
  if (!outcomes) throw new Error("Bug! The worker is alone here.");
  return outcomes;
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
