// A scenario: what is sent, to whom, and what the world is like. A schedule is one way it can go.

export type Send = {
  /** ms after the start. */
  at: number;
  /** The sender's own id. */
  messageId: string;
  /** Minor units, as the sender wrote them. */
  amount: string;
  currency: string;
  customer: string;
  /** Its kind, which says how the payment ends, and a number of its own: no two ids share one. */
  paymentMethod: string;
  description?: string;
  metadata: Readonly<Record<string, string>>;
  /** The sender's time, in ms after the start. */
  createdAt: number;
  /** Sent through SNS, which wraps it and mints an id of its own. */
  wrapped?: boolean;
  /** Invalid: the worker must never charge it. */
  invalid?: boolean;
  /** As the door wrote it. */
  body?: string;
};

export type Scenario = {
  name: string;
  sends: readonly Send[];
  /** One for each worker that may run at once: how far its clock is off, in ms. */
  clocks: readonly number[];
  /** How far Stripe's clock is off, in ms. */
  stripeClock: number;
  /** PaymentIntents of the customer that are none of these messages'. */
  strangers: "none" | "alike" | "pages";
  batchSize: number;
  maxReceiveCount: number;
  /** When an operator moves the dead-letter queue back, in ms after the start. */
  redrivesAt: readonly number[];
  prunesKeys: boolean;
  deletesExpired: boolean;
  takesStaleReceipts: boolean;
  /** How long a message that can be received may wait for a worker that is free, in ms. */
  longestBacklogMs: number;
  /** From when to when Stripe answers 503, in ms after the start. */
  stripeDown?: readonly [from: number, until: number];
  /** From when to when the worker's key is of the wrong mode, in ms after the start. */
  wrongKey?: readonly [from: number, until: number];
  /** One step in about so many is a fault, where chance decides. */
  stepsPerFault: number;
  /** Faults at most. */
  faults: number;
  /** Faults may be injected until the queue has delivered this often. */
  deliveries: number;
  /** With the publisher and the finalizer; without it, the worker alone. */
  outcomes?: OutcomeSettings;
  /** With the door, the fulfillment or both. */
  orders?: OrderSettings;
};

export type OutcomeSettings = {
  /** One alone has fewer schedules. */
  actors: readonly ("publisher" | "finalizer")[];
  /** Whether the stream's filter leaves out what is not completed, as it is deployed. */
  filtered: boolean;
  /** Changes in one batch of the stream, and events in one of the queue, at most. */
  batchSize: number;
  /** PaymentIntents that no worker makes: a second one for `pay-1`, and others'. */
  byHand: "none" | "second" | "others";
};

export type OrderSettings = {
  /** With the door, what is sent is what its clients ask for. */
  actors: readonly ("door" | "fulfillment")[];
  /** All of one article, in euro. */
  orders: readonly { messageId: string; amount: number; quantity: number }[];
  /** How many there are of it. */
  onHand: number;
  /** Events in one batch, at most. */
  batchSize: number;
  /** Outcome events that are on their way at the start, where nobody publishes any. */
  published: readonly { messageId: string; result: string; revision?: number }[];
};

export const START = Date.UTC(2026, 10, 2, 9);

export const SECOND = 1_000;
export const MINUTE = 60 * SECOND;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;

export const PAYMENT: Send = {
  at: 0,
  messageId: "pay-1",
  amount: "500",
  currency: "eur",
  customer: "cus_1",
  paymentMethod: "pm_card_1",
  description: "Order 1",
  metadata: { order: "1" },
  createdAt: 0,
};

/** For a trace. */
export const describeSend = ({ messageId, amount, currency, customer }: Send): string =>
  `${messageId} over ${amount} ${currency} of ${customer}`;

/** The payment alone: what a client sends to the door. */
export function paymentIn(send: Send): string {
  const { amount, currency, customer, paymentMethod, description, metadata } = send;
  const rest = JSON.stringify({ currency, customer, paymentMethod, description, metadata });
  return `{"amount":${amount},${rest.slice(1)}`;
}

/** The message's body. */
export const bodyOf = once((send: Send): string => {
  const { messageId, createdAt, at, wrapped } = send;
  if (send.body !== undefined) return send.body;
  const time = new Date(START + createdAt).toISOString();
  const body = `{"id":"${messageId}","createdAt":"${time}",${paymentIn(send).slice(1)}`;
  if (!wrapped) return body;
  return JSON.stringify({ Type: "Notification", MessageId: `sns-${at}`, Message: body });
});

/** What Stripe has to be asked for, written as `formOf` writes a request's body. */
export const askedFor = once((send: Send): string => {
  const fields: Record<string, string> = {
    amount: send.amount,
    currency: send.currency,
    customer: send.customer,
    payment_method: send.paymentMethod,
    confirm: "true",
    off_session: "true",
    ...(send.description !== undefined && { description: send.description }),
    "metadata[message_id]": send.messageId,
  };
  for (const [key, value] of Object.entries(send.metadata)) fields[`metadata[${key}]`] = value;
  return sorted(Object.entries(fields));
});

function once(make: (send: Send) => string): (send: Send) => string {
  const made = new WeakMap<Send, string>();
  return (send) => {
    const value = made.get(send) ?? make(send);
    made.set(send, value);
    return value;
  };
}

/** A request's body with its fields in order: equal for equal payments. */
export const formOf = (body: string): string => sorted([...new URLSearchParams(body)]);

function sorted(fields: readonly [string, string][]): string {
  return fields
    .map(([name, value]) => `${name}=${value}`)
    .toSorted()
    .join(" & ");
}
