// Stripe's Event objects: one per change, handed to the listeners. https://docs.stripe.com/api/events

import { newId } from "./payment-intent.ts";

export type StripeEvent = ReturnType<typeof newEvent>;

export type Emitted = { account: string; event: StripeEvent };

type Listener = (emitted: Emitted) => void;

// Of the newest API that stripe-node knows: a reader must not depend on it.
const API_VERSION = "2026-10-28.endive";

export function createEvents(now: () => number) {
  const listeners = new Set<Listener>();

  return {
    /** Makes the event of a change. `object` is as it is now: a later change is another event's. */
    emit: (account: string, type: string, object: object, request: Request = {}): void => {
      const event = newEvent(type, object, request, now());
      for (const listener of listeners) listener({ account, event });
    },
    /** Calls `listener` for every event from now on; the answer ends it. */
    subscribe: (listener: Listener): (() => void) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}

type Request = { id?: string; idempotencyKey?: string | undefined };

const newEvent = (type: string, object: object, request: Request, nowMs: number) => ({
  id: newId("evt_3"),
  object: "event",
  api_version: API_VERSION,
  created: Math.floor(nowMs / 1_000),
  data: { object: structuredClone(object) },
  livemode: false,
  pending_webhooks: 1,
  request: { id: request.id ?? null, idempotency_key: request.idempotencyKey ?? null },
  type,
});
