// Stripe's Event objects: one per change, kept for `GET /v1/events`, and handed to the listeners.
// https://docs.stripe.com/api/events

import { resourceMissing } from "./errors.ts";
import type { Answer } from "./errors.ts";
import type { Params } from "./form.ts";
import { listPage } from "./list.ts";
import { text } from "./parameters.ts";
import { newId } from "./payment-intent.ts";

export type StripeEvent = {
  id: string;
  object: "event";
  api_version: string;
  created: number;
  data: { object: object };
  livemode: false;
  pending_webhooks: number;
  request: { id: string | null; idempotency_key: string | null };
  type: string;
};

export type Emitted = { account: string; event: StripeEvent };

// Of the newest API that stripe-node knows: a reader must not depend on it.
const API_VERSION = "2026-10-28.endive";

const KEPT = 10_000;

export function createEvents(now: () => number) {
  let all: Emitted[] = [];
  const listeners = new Set<(emitted: Emitted) => void>();

  return {
    /** Makes the event of a change. `object` is as it is now: a later change is another event's. */
    emit(
      account: string,
      type: string,
      object: object,
      request: { id?: string; idempotencyKey?: string | undefined } = {},
    ): StripeEvent {
      const event: StripeEvent = {
        id: newId("evt_3"),
        object: "event",
        api_version: API_VERSION,
        created: Math.floor(now() / 1_000),
        data: { object: structuredClone(object) },
        livemode: false,
        pending_webhooks: 1,
        request: { id: request.id ?? null, idempotency_key: request.idempotencyKey ?? null },
        type,
      };
      if (all.length >= 2 * KEPT) all = all.slice(-KEPT);
      all.push({ account, event });
      for (const listener of listeners) listener({ account, event });
      return event;
    },
    /** Calls `listener` for every event from now on; the answer ends it. */
    subscribe: (listener: (emitted: Emitted) => void): (() => void) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    all: (): readonly Emitted[] => all,
    /** `GET /v1/events/:id`. */
    find(account: string, id: string): Answer {
      const found = all.find((one) => one.account === account && one.event.id === id);
      return found ? { status: 200, body: found.event } : resourceMissing("event", id, "id", 404);
    },
    /** `GET /v1/events`: newest first. */
    list(account: string, params: Params): Answer {
      const type = text(params, "type");
      return listPage({
        params,
        known: { type: "string" },
        oldestFirst: all.flatMap(({ account: of, event }) => (of === account ? event : [])),
        url: "/v1/events",
        object: "event",
        matches: (event) => (type ?? event.type) === event.type,
        show: (event) => event,
      });
    },
  };
}

export type Events = ReturnType<typeof createEvents>;
