import type { Access } from "./api-keys.ts";
import { createParameters } from "./create-parameters.ts";
import { createPaymentIntent } from "./create-payment-intent.ts";
import { createProblem } from "./create-problem.ts";
import { createCustomer, customerParametersProblem } from "./customers.ts";
import { resourceMissing } from "./errors.ts";
import type { Answer } from "./errors.ts";
import type { Params } from "./form.ts";
import type { Charge } from "./ledger.ts";
import { listPaymentIntents } from "./list.ts";
import type { PaymentIntentStore } from "./payment-intent-store.ts";
import { searchPaymentIntents } from "./search.ts";

export type Caller = {
  account: string;
  idempotencyKey: string | undefined;
  messageId: string | undefined;
};

export type Route = {
  access: Access;
  /** What is wrong with the parameters. Nothing of the request has been carried out yet. */
  problem(params: Params): Answer | undefined;
  run(params: Params, caller: Caller): Answer;
};

type World = {
  now: () => number;
  store: PaymentIntentStore;
  searchLagMs: () => number;
  charged: (charge: Charge) => void;
};

/** The endpoints of https://docs.stripe.com/api that are here; undefined for any other. */
export function createRoutes({ now, store, searchLagMs, charged }: World) {
  const create: Route = {
    access: "write",
    problem: createProblem,
    run(params, caller) {
      const createdMs = now();
      const { intent, answer } = createPaymentIntent(createParameters(params), createdMs);
      store.add(caller.account, { intent, createdMs });
      const { id: paymentIntent, amount, currency, customer } = intent;
      const { status } = intent;
      if (takesMoney(status)) {
        const payer = typeof customer === "string" ? customer : undefined;
        const { account, idempotencyKey, messageId } = caller;
        charged({
          paymentIntent,
          status,
          messageId,
          idempotencyKey,
          account,
          customer: payer,
          amount,
          currency,
          createdMs,
        });
      }
      return answer;
    },
  };
  const list = read((params, { account }) => listPaymentIntents(store, account, params));
  const search = read((params, { account }) =>
    searchPaymentIntents(store, account, params, { nowMs: now(), lagMs: searchLagMs() }),
  );
  const customers: Route = {
    access: "write",
    problem: customerParametersProblem,
    run: (params) => createCustomer(params, now()),
  };

  return function route(method: string, path: string): Route | undefined {
    if (method === "POST" && path === "/v1/payment_intents") return create;
    if (method === "GET" && path === "/v1/payment_intents") return list;
    if (method === "GET" && path === "/v1/payment_intents/search") return search;
    if (method === "POST" && path === "/v1/customers") return customers;
    const id = /^\/v1\/payment_intents\/([^/]+)$/.exec(path)?.[1];
    if (method !== "GET" || id === undefined) return undefined;
    return read((_, { account }) => {
      const intent = store.find(account, id);
      return intent
        ? { status: 200, body: intent }
        : resourceMissing("payment_intent", id, "intent", 404);
    });
  };
}

function takesMoney(status: string): status is Charge["status"] {
  return status === "succeeded" || status === "processing";
}

function read(run: Route["run"]): Route {
  return { access: "read", problem: () => undefined, run };
}
