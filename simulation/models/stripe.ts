// Stripe in memory: PaymentIntents, idempotency keys and the ledger that everything is checked against.
// https://docs.stripe.com/api/idempotent_requests

import { confirmed, declineError, errorBody, later } from "./stripe-objects.ts";
import type { Intent } from "./stripe-objects.ts";

export type Request = {
  method: string;
  /** With its query. */
  path: string;
  body: string;
  idempotencyKey: string | undefined;
};

export type Response = {
  status: number;
  /** JSON, as it is on the wire and as Stripe replays it. */
  body: string;
};

/** What a fault makes of a request that was accepted. */
export type Failure = { status: number; type: string; code?: string; stored: boolean };

export type StripeModel = ReturnType<typeof createStripe>;

type Key = { path: string; body: string; firstUsedAt: number; response?: Response };

type StripeSettings = {
  /** Epoch ms, by Stripe's own clock. */
  now: () => number;
  /** Whether keys are gone as soon as they may be; if not, they are kept for ever. */
  prunesKeys: boolean;
  /** PaymentIntents that no request of the worker made, oldest first. */
  strangers?: readonly Intent[];
  onCreate?: (intent: Intent, request: Request) => void;
  onRequest?: (request: Request) => void;
};

const DAY = 24 * 60 * 60 * 1_000;

export function createStripe({
  now,
  prunesKeys,
  strangers = [],
  onCreate,
  onRequest,
}: StripeSettings) {
  /** Every PaymentIntent that was ever made, oldest first. */
  const intents: Intent[] = [];
  const keys = new Map<string, Key>();

  const create = (request: Request): Response => {
    const intent = confirmed(request.body, `pi_${intents.length + 1}`, now());
    intents.push(intent);
    onCreate?.(intent, request);
    return intent.status === "requires_payment_method"
      ? responding(402, { error: declineError(intent) })
      : responding(200, intent);
  };

  /** The answer that needs no work, or the key under which the work is done. */
  const admit = (request: Request): Response | Key | undefined => {
    onRequest?.(request);
    const { idempotencyKey, path, body } = request;
    if (idempotencyKey === undefined) return undefined;
    const known = keys.get(idempotencyKey);
    const pruned = prunesKeys && known?.response && now() - known.firstUsedAt >= DAY;
    if (known && !pruned) {
      if (known.path !== path || known.body !== body) {
        return responding(400, errorBody("idempotency_error"));
      }
      return (
        known.response ??
        responding(409, errorBody("invalid_request_error", "idempotency_key_in_use"))
      );
    }
    const key: Key = { path, body, firstUsedAt: now() };
    keys.set(idempotencyKey, key);
    return key;
  };

  /** Accepts a request; what is returned carries it out and answers. */
  const receive = (request: Request): (() => Response) => {
    if (request.method === "GET") {
      onRequest?.(request);
      return () =>
        request.path.includes("?")
          ? list(request.path, [...intents, ...strangers], now())
          : retrieve(request.path, intents, now());
    }
    const admitted = admit(request);
    if (admitted && "status" in admitted) return () => admitted;
    return () => {
      const response = create(request);
      if (admitted) admitted.response = response;
      return response;
    };
  };

  return {
    intents,
    keys,
    receive,
    /** The same for a request that ends in an error, after or without a charge. */
    failing(request: Request, failure: Failure, charges: boolean): Response {
      const { status, type, code, stored } = failure;
      const response = responding(status, errorBody(type, code));
      if (!stored) return response; // answered before a key is used
      if (request.method === "GET") return response;
      const admitted = admit(request);
      if (admitted && "status" in admitted) return admitted;
      if (charges) create(request);
      if (admitted) admitted.response = response;
      return response;
    },
  };
}

/** GET /v1/payment_intents/:id: https://docs.stripe.com/api/payment_intents/retrieve */
function retrieve(path: string, intents: readonly Intent[], now: number): Response {
  const intent = intents.find(({ id }) => path.endsWith(`/${id}`));
  return intent
    ? responding(200, later(intent, now))
    : responding(404, errorBody("invalid_request_error", "resource_missing"));
}

/** GET /v1/payment_intents, newest first: https://docs.stripe.com/api/payment_intents/list */
function list(path: string, intents: readonly Intent[], now: number): Response {
  const query = new URLSearchParams(path.split("?")[1]);
  const since = Number(query.get("created[gte]") ?? 0);
  const after = query.get("starting_after");
  const matching = intents
    .filter(({ customer }) => customer === query.get("customer"))
    .filter(({ created }) => created >= since && created * 1_000 <= now)
    .toSorted((a, b) => b.created - a.created);
  const start = after === null ? 0 : matching.findIndex(({ id }) => id === after) + 1;
  const page = matching.slice(start, start + Number(query.get("limit") ?? 10));
  const data = page.map((intent) => later(intent, now));
  const has_more = start + page.length < matching.length;
  return responding(200, { object: "list", data, has_more });
}

const responding = (status: number, body: object): Response => ({
  status,
  body: JSON.stringify(body),
});
