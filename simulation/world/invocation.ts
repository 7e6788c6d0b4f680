// A function's invocation, and its requests in flight.

import type { PutEventsRequestEntry } from "@aws-sdk/client-eventbridge";
import type { APIGatewayProxyStructuredResultV2 } from "aws-lambda";

import type { PublishedEvent } from "../models/bus.ts";
import type { QueuedMessage } from "../models/queue.ts";
import type { StripeEvent } from "../models/stripe-events.ts";
import type { Request } from "../models/stripe.ts";
import type { Change } from "./outcomes.ts";
import type { Send } from "./scenario.ts";
import type { World } from "./world.ts";

export type Role = "worker" | "finalizer" | "publisher" | "fulfillment" | "door";

/** What a queue of the simulation holds. */
export type Sent = Send | StripeEvent | PublishedEvent;

export type Delivery<S = Sent> = { message: QueuedMessage<S>; receipt: string };

/** One event handed to one execution environment. */
export type Invocation = {
  role: Role;
  /** For a reader: its environment and its number. */
  name: string;
  /** What it received, by which clock: the same in every schedule that comes to the same state. */
  key: string;
  /** Which of the scenario's clocks it has; the functions around the worker have one without error. */
  slot: number;
  deadline: number;
  /** `over`: it answered. `abandoned`: Lambda gave it up, but it was frozen and may thaw. */
  state: "running" | "abandoned" | "over" | "dead";
  frozenAt: number | undefined;
  /** What a queue handed to it. */
  deliveries: Delivery[];
  /** Only the publisher's. */
  changes?: readonly Change[];
  changesFrom?: number;
  /** Only the door's: what is asked for, the answer, and whether the client asks again for want of one. */
  request?: Send;
  response?: APIGatewayProxyStructuredResultV2;
  askedAgain?: true;
  /** A digest of all that it has seen: with it, the state of its code. */
  seen: number;
};

/** The deliveries of payments: the worker's. */
export const paymentsOf = ({ role, deliveries }: Invocation): Delivery<Send>[] =>
  role === "worker" ? (deliveries as Delivery<Send>[]) : [];

/** Starts the handler; the world does not know how. */
export type Start = (world: World, invocation: Invocation) => void;

/** Hands an event to an environment that is free. */
export function invoke(
  world: World,
  start: Start,
  particular: Pick<Invocation, "role" | "slot" | "key"> & Partial<Invocation>,
  what: readonly string[],
): void {
  const { role, slot } = particular;
  const number = world.invocations.length + 1;
  const invocation: Invocation = {
    name: role === "worker" ? `${"ABCDEFG"[slot]}${number}` : `${role} ${number}`,
    deadline: world.now + world.timings.functionTimeoutMs,
    state: "running",
    frozenAt: undefined,
    deliveries: [],
    seen: 0,
    ...particular,
  };
  world.received += role === "worker" ? invocation.deliveries.length : 1;
  world.recorder.trace?.(invocation.name, `receives ${what.join(", ")}`);
  world.invocations.push(invocation);
  start(world, invocation);
}

export type Reply = { value: unknown } | { error: unknown };

export type Service = "table" | "orders" | "stripe" | "queue" | "bus" | "poller";

/** A request at an await: it is answered when the scheduler picks it. */
export type Call = {
  by: Invocation;
  service: Service;
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
  /** Only the records table's: the message id of the record. */
  record?: string;
  /** Only a transaction's: its answer while another one is at one of its items. */
  conflict?: (item: number) => Reply;
  items?: number;
  /** Only the bus's. */
  entries?: readonly PutEventsRequestEntry[];
  resolve: (reply: Reply) => void;
};
