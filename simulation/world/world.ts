// The world of one schedule: a clock, a table, a queue, Stripe, the workers' invocations, and every
// request in flight.

import type { Timings } from "../../lib/timing/payments.ts";
import type { Rule } from "../checkers/rules.ts";
import { createQueue } from "../models/queue.ts";
import type { Queue, QueuedMessage } from "../models/queue.ts";
import type { Intent } from "../models/stripe-objects.ts";
import { createStripe } from "../models/stripe.ts";
import type { Request, StripeModel } from "../models/stripe.ts";
import type { Item } from "../models/table.ts";
import { createTable } from "../models/table.ts";
import type { Table } from "../models/table.ts";
import type { Choose } from "../search/choices.ts";
import { START } from "./scenario.ts";
import type { Scenario, Send } from "./scenario.ts";

export type Message = QueuedMessage<Send>;

/** One event handed to one worker. */
export type Invocation = {
  /** For a reader: its worker and its number. */
  name: string;
  /** What it received, by which clock: the same in every schedule that comes to the same state. */
  key: string;
  /** Which of the scenario's clocks it has. */
  slot: number;
  deadline: number;
  /** `over`: it answered. `abandoned`: Lambda gave it up, but it was frozen and may thaw. */
  state: "running" | "abandoned" | "over" | "dead";
  frozenAt: number | undefined;
  deliveries: { message: Message; receipt: string }[];
  /** A digest of all that it has seen: with it, the state of its code. */
  seen: number;
};

export type Reply = { value: unknown } | { error: unknown };

/** A request at an await: it is answered when the scheduler picks it. */
export type Call = {
  by: Invocation;
  service: "table" | "stripe" | "queue" | "poller";
  name: string;
  /** `sent`: on its way. `slow`: accepted, not done. `lost`: never arrives. `answered`: unread. */
  state: "sent" | "slow" | "lost" | "answered";
  timesOutAt: number;
  /** False once the caller gave up or died. */
  waiting: boolean;
  /** Accepts the request; what is returned carries it out. */
  receive: () => () => Reply;
  finish?: () => Reply;
  finishBy: number;
  reply?: Reply;
  /** Only Stripe's: what it answers under a fault. */
  request?: Request;
  settle: (reply: Reply) => void;
};

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
  /** By customer: the first request to create a PaymentIntent. */
  creates: Map<string, Request>;
  /** Whose request is being carried out. */
  writer: Invocation | undefined;
  sendsLeft: Send[];
  redrivesLeft: number[];
  faultsLeft: number;
  received: number;
  /** By message: how often it had been received when the last fault was over. */
  receivesAtFault: Map<Message, number>;
  /** By customer, when Stripe stored an error for it: only the key's end can help. */
  poisoned: Set<string>;
  logged: Map<Message, string>;
};

/** What the models report to the safety checks. */
export type Observers = {
  onCreate: (world: World, intent: Intent) => void;
  onRequest: (world: World, request: Request) => void;
  onWrite: (world: World, before: Item | undefined, after: Item | undefined) => void;
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
      onWrite: (before, after) => observers.onWrite(world, before, after),
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
      onCreate: (intent) => observers.onCreate(world, intent),
      onRequest: (request) => observers.onRequest(world, request),
    }),
    invocations: [],
    calls: [],
    owners: new Map(),
    claimants: new Set(),
    creates: new Map(),
    writer: undefined,
    sendsLeft: scenario.sends.toSorted((a, b) => a.at - b.at),
    redrivesLeft: [...scenario.redrivesAt],
    faultsLeft: scenario.faults,
    received: 0,
    receivesAtFault: new Map(),
    poisoned: new Set(),
    logged: new Map(),
  };
  return world;
}

/** Notes a fault, or its end: a message has to recover within its receives from here on. */
export function disturbed(world: World): void {
  for (const message of world.queue.messages) {
    world.receivesAtFault.set(message, message.receiveCount);
  }
}
