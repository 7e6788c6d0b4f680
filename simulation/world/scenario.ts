// A scenario: what is sent, to whom, and what the world is like. A schedule is one way it can go.

export type Send = {
  /** ms after the start. */
  at: number;
  /** The sender's own id. */
  messageId: string;
  /** Minor units, as the sender wrote them. */
  amount: string;
  paymentMethod: string;
  /** The sender's time, in ms after the start. */
  createdAt: number;
  /** Sent through SNS, which wraps it and mints an id of its own. */
  wrapped?: boolean;
  /** Invalid: the worker must never charge it. */
  invalid?: boolean;
};

export type Scenario = {
  name: string;
  sends: readonly Send[];
  /** One for each worker that may run at once: how far its clock is off, in ms. */
  clocks: readonly number[];
  /** How far Stripe's clock is off, in ms. */
  stripeClock: number;
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
  /** One step in about so many is a fault, where chance decides. */
  stepsPerFault: number;
  /** Faults at most. */
  faults: number;
  /** Faults may inject until the queue has delivered this often. */
  deliveries: number;
};

export const START = Date.UTC(2026, 10, 2, 9);

export const SECOND = 1_000;
export const MINUTE = 60 * SECOND;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;

/** Each id pays for itself: what Stripe was asked for an id is known by its customer. */
export const customerOf = (messageId: string): string => `cus_${messageId.replaceAll("-", "")}`;

export function bodyOf(send: Send): string {
  const createdAt = new Date(START + send.createdAt).toISOString();
  const customer = customerOf(send.messageId);
  const body =
    `{"id":"${send.messageId}","createdAt":"${createdAt}","amount":${send.amount},` +
    `"currency":"eur","customer":"${customer}","paymentMethod":"${send.paymentMethod}"}`;
  if (!send.wrapped) return body;
  return JSON.stringify({ Type: "Notification", MessageId: `sns-${send.at}`, Message: body });
}
