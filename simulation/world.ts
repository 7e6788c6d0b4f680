// The world of one schedule: a clock, a table, a queue, Stripe, the workers' invocations, and every
// request that is under way.

import type { Timings } from "../lib/timing/timing.ts";
import type { Choose } from "./choices.ts";
import type { Item } from "./expressions.ts";
import { START } from "./plan.ts";
import type { Plan, Send } from "./plan.ts";
import { createQueue } from "./queue.ts";
import type { Queue, QueuedMessage } from "./queue.ts";
import type { Rule } from "./rules.ts";
import type { Intent } from "./stripe-objects.ts";
import { createStripe } from "./stripe.ts";
import type { Request, StripeModel } from "./stripe.ts";
import { createTable } from "./table.ts";
import type { Table } from "./table.ts";

export type Message = QueuedMessage<Send>;

/** One event handed to one worker. */
export type Invocation = {
  /** For a reader: its worker and its number. */
  name: string;
  /** What it received, by which clock: the same in every schedule that comes to the same state. */
  key: string;
  /** Which of the plan's clocks it has. */
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
export type Witness = {
  count: (what: string) => void;
  /** Whether what the workers see is digested, to tell their states apart. */
  digests: boolean;
  /** Absent when nobody reads the trace: telling costs more than running. */
  tell?: (who: string, what: string) => void;
};

export type World = {
  plan: Plan;
  /** The one rule that is looked at; every rule when absent. */
  only: Rule | undefined;
  timings: Timings;
  choose: Choose;
  /** Choices that are of no interest when every schedule is enumerated. */
  vary: (options: number) => number;
  witness: Witness;
  now: number;
  table: Table;
  queue: Queue<Send>;
  stripe: StripeModel;
  invocations: Invocation[];
  calls: Call[];
  /** Whose attempt a record's owner is. */
  owners: Map<string, Invocation>;
  /** Who has held the claim of which message, at any time. */
  held: Set<string>;
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
  stuck: Set<string>;
  logged: Map<Message, string>;
};

/** What the models tell the invariants. */
export type Observers = {
  onCreate: (world: World, intent: Intent) => void;
  onRequest: (world: World, request: Request) => void;
  onWrite: (world: World, before: Item | undefined, after: Item | undefined) => void;
};

export function createWorld(
  plan: Plan,
  timings: Timings,
  choose: Choose,
  vary: World["vary"],
  witness: Witness,
  observers: Observers,
  only: Rule | undefined,
): World {
  const now = () => world.now;
  const world: World = {
    plan,
    only,
    timings,
    choose,
    vary,
    witness,
    now: START,
    table: createTable({
      partitionKey: "messageId",
      ttlAttribute: "expiresAt",
      now,
      deletesExpired: plan.deletesExpired,
      onWrite: (before, after) => observers.onWrite(world, before, after),
    }),
    queue: createQueue<Send>({
      now,
      visibilityTimeoutMs: timings.visibilityTimeoutMs,
      maxReceiveCount: plan.maxReceiveCount,
      retentionMs: timings.queueRetentionMs,
      takesStaleReceipts: plan.takesStaleReceipts,
    }),
    stripe: createStripe({
      now: () => world.now + plan.stripeClock,
      prunesKeys: plan.prunesKeys,
      onCreate: (intent) => observers.onCreate(world, intent),
      onRequest: (request) => observers.onRequest(world, request),
    }),
    invocations: [],
    calls: [],
    owners: new Map(),
    held: new Set(),
    creates: new Map(),
    writer: undefined,
    sendsLeft: plan.sends.toSorted((a, b) => a.at - b.at),
    redrivesLeft: [...plan.redrivesAt],
    faultsLeft: plan.faults,
    received: 0,
    receivesAtFault: new Map(),
    stuck: new Set(),
    logged: new Map(),
  };
  return world;
}

/** Remembers that the world is not at its best: what follows is judged from here on. */
export function disturbed(world: World): void {
  for (const message of world.queue.messages) {
    world.receivesAtFault.set(message, message.receiveCount);
  }
}
