import { refundObject } from "./balance.ts";
import type { Balance } from "./balance.ts";
import type { Charges } from "./charges.ts";
import { createParameters } from "./create-parameters.ts";
import { createPaymentIntent } from "./create-payment-intent.ts";
import { createProblem } from "./create-problem.ts";
import { invalidRequest, resourceMissing } from "./errors.ts";
import type { Answer } from "./errors.ts";
import type { Events } from "./events.ts";
import type { Params } from "./form.ts";
import type { Charge } from "./ledger.ts";
import { afterStep } from "./lifecycle.ts";
import { listPaymentIntents } from "./list.ts";
import { textHash } from "./parameters.ts";
import type { PaymentIntentStore } from "./payment-intent-store.ts";
import type { PaymentIntent } from "./payment-intent.ts";
import { searchPaymentIntents } from "./search.ts";
import type { WebhookEndpoints } from "./webhook-endpoints.ts";

type Caller = {
  account: string;
  idempotencyKey: string | undefined;
  messageId: string | undefined;
};

type Route = {
  /** What is wrong with the parameters. Nothing of the request has been carried out yet. */
  problem?(params: Params): Answer | undefined;
  run(params: Params, caller: Caller): Answer;
};

export type Changed = (
  before: PaymentIntent | undefined,
  intent: PaymentIntent,
  caller: Pick<Caller, "account"> & Partial<Caller>,
) => void;

type World = {
  now: () => number;
  store: PaymentIntentStore;
  searchLagMs: () => number;
  events: Events;
  endpoints: WebhookEndpoints;
  charges: Charges;
  balance: Balance;
  /** A PaymentIntent was made or has changed. */
  changed: Changed;
  charged: (charge: Charge) => void;
};

/** The endpoints of https://docs.stripe.com/api that are here; undefined for any other. */
export function createRoutes(world: World) {
  const { now, store, searchLagMs, events, endpoints, charges, balance, changed, charged } = world;
  const create: Route = {
    problem: createProblem,
    run(params, caller) {
      const createdMs = now();
      const { intent, answer } = createPaymentIntent(createParameters(params), createdMs);
      store.add(caller.account, { intent, createdMs });
      const { id: paymentIntent, amount, currency, status } = intent;
      if (takesMoney(status)) {
        const { account, idempotencyKey, messageId } = caller;
        const customer = typeof intent.customer === "string" ? intent.customer : undefined;
        const who = { messageId, idempotencyKey, account, customer };
        charged({ paymentIntent, status, ...who, amount, currency, createdMs });
      }
      changed(undefined, intent, caller);
      return answer;
    },
  };
  const list = plain((params, { account }) => listPaymentIntents(store, account, params));
  const search = plain((params, { account }) =>
    searchPaymentIntents(store, account, params, { nowMs: now(), lagMs: searchLagMs() }),
  );

  const retrieve = (id: string) =>
    plain((params, { account }) => {
      const intent = store.find(account, id);
      if (!intent) return resourceMissing("payment_intent", id, "intent", 404);
      return { status: 200, body: expanded(intent, account, params) };
    });
  /** https://docs.stripe.com/api/expanding_objects */
  const expanded = (intent: PaymentIntent, account: string, params: Params): object => {
    const expand = Object.values(textHash(params, "expand"));
    const charge = expand.some((path) => path.startsWith("latest_charge")) && charges.of(intent);
    if (!charge) return intent;
    const transaction =
      expand.includes("latest_charge.balance_transaction") &&
      balance.find(account, charge.balance_transaction as string | null);
    const shown = transaction ? { balance_transaction: transaction } : {};
    return { ...intent, latest_charge: { ...charge, ...shown } };
  };
  const cancel = (id: string) =>
    plain((_, caller) => {
      const intent = store.find(caller.account, id);
      if (!intent) return resourceMissing("payment_intent", id, "intent", 404);
      const canceled = afterStep(intent, "cancel", now());
      if (!canceled) return unexpectedState(intent.status);
      store.replace(canceled);
      changed(intent, canceled, caller);
      return { status: 200, body: canceled };
    });
  const exact: Readonly<Record<string, Route>> = {
    "POST /v1/payment_intents": create,
    "GET /v1/payment_intents": list,
    "GET /v1/payment_intents/search": search,
    "GET /v1/balance_transactions": plain((params, { account }) =>
      balance.list(account, params, (transaction, intentId) => {
        const intent = store.find(account, intentId);
        if (!intent) return null;
        return /^(?:re|pyr)_/.test(transaction.source)
          ? refundObject(transaction, intent)
          : charges.of(intent, transaction.source);
      }),
    ),
    "GET /v1/events": plain((params, { account }) => events.list(account, params)),
    "GET /v1/webhook_endpoints": plain((_, { account }) => endpoints.list(account)),
    "POST /v1/webhook_endpoints": plain((params, { account }) => endpoints.create(account, params)),
  };
  const ofOne: readonly [RegExp, (id: string) => Route][] = [
    [/^GET \/v1\/payment_intents\/([^/]+)$/, retrieve],
    [/^POST \/v1\/payment_intents\/([^/]+)\/cancel$/, cancel],
    [/^GET \/v1\/events\/([^/]+)$/, (id) => plain((_, { account }) => events.find(account, id))],
    [
      /^POST \/v1\/webhook_endpoints\/([^/]+)$/,
      (id) => plain((params, { account }) => endpoints.update(account, id, params)),
    ],
  ];

  return function route(method: string, path: string): Route | undefined {
    const request = `${method} ${path}`;
    if (exact[request]) return exact[request];
    for (const [pattern, make] of ofOne) {
      const id = pattern.exec(request)?.[1];
      if (id !== undefined) return make(id);
    }
    return undefined;
  };
}

function unexpectedState(status: string): Answer {
  const message = `You cannot cancel this PaymentIntent because it has a status of ${status}.`;
  return invalidRequest(message, { code: "payment_intent_unexpected_state" });
}

function takesMoney(status: string): status is Charge["status"] {
  return status === "succeeded" || status === "processing";
}

const plain = (run: Route["run"]): Route => ({ run });
