// Stripe on a laptop: PaymentIntents and idempotency as https://docs.stripe.com/api has them.
import { startHttpServer } from "../http-server.ts";
import type { Listening } from "../http-server.ts";
import { createApiKeys } from "./api-keys.ts";
import { createBalance } from "./balance.ts";
import type { Balance } from "./balance.ts";
import { createCharges } from "./charges.ts";
import { createDecide } from "./decide.ts";
import { createEvents } from "./events.ts";
import { createExchange } from "./exchange.ts";
import { phaseOfOwn, withOutage } from "./faults.ts";
import type { OwnFault } from "./faults.ts";
import { createIdempotencyKeys } from "./idempotency.ts";
import { createLedger } from "./ledger.ts";
import type { Charge, RequestRecord } from "./ledger.ts";
import { afterStep, disputeOf, eventOf } from "./lifecycle.ts";
import type { Step } from "./lifecycle.ts";
import { createPaymentIntentStore } from "./payment-intent-store.ts";
import type { PaymentIntent } from "./payment-intent.ts";
import { createRoutes } from "./routes.ts";
import type { Changed } from "./routes.ts";
import { createWebhookEndpoints } from "./webhook-endpoints.ts";
import { createWebhookSender } from "./webhook-sender.ts";
import type { Sending } from "./webhook-sender.ts";

export type StripeServer = Awaited<ReturnType<typeof startStripe>>;

/**
 * Its `url` is what `STRIPE_API_BASE` takes. `now` is ms since the epoch; `created`, the life of idempotency keys and the lag of search go by it.
 *
 * @throws when the port is taken
 */
export async function startStripe(
  options: Listening & {
    now?: () => number;
    /** The API keys that there are; absent: any test key is one. */
    keys?: readonly string[] | undefined;
    /** Called with each request when it is over, a dropped one too. */
    onEnd?: (request: RequestRecord) => void;
    onCharge?: (charge: Charge) => void;
    onSending?: (sending: Sending) => void;
  } = {},
) {
  const now = options.now ?? Date.now;
  const { ledger, write } = createLedger();
  const { keys, ...apiKeys } = createApiKeys(options.keys);
  const store = createPaymentIntentStore();
  let searchLagMs = 60_000;
  const events = createEvents(now);
  const endpoints = createWebhookEndpoints(now);
  const sender = createWebhookSender({ endpoints, now, onSending: options.onSending });
  events.subscribe(sender.send);
  const balance = createBalance(now);
  const charges = createCharges((charge) => balance.of(charge));
  const changed: Changed = (before, intent, caller) => {
    charges.add(intent, now());
    balance.follow(caller.account, before, intent);
    const type = eventOf(intent);
    if (type) events.emit(caller.account, type, intent, caller);
  };
  const route = createRoutes({
    now,
    store,
    charges,
    balance,
    changed,
    events,
    endpoints,
    searchLagMs: () => searchLagMs,
    charged(charge) {
      write.charge(charge);
      options.onCharge?.(charge);
    },
  });
  function known(id: string) {
    const found = store.byId(id);
    if (!found) throw new Error(`There is no PaymentIntent ${id}.`);
    return found;
  }
  const decide = createDecide({ ...apiKeys, now, route, beginKey: createIdempotencyKeys(now) });
  const server = await startHttpServer<RequestRecord, OwnFault>({
    port: options.port,
    host: options.host,
    tls: options.tls,
    about:
      "Stripe on this machine, in test mode. List the PaymentIntents: curl -u sk_test_local: URL/v1/payment_intents",
    phaseOfOwn,
    onEnd: (request) => options.onEnd?.(request),
    read: createExchange({ now, decide, ledger: write }),
  });

  return {
    ...server,
    faults: withOutage(server.faults),
    ledger,
    keys,
    /** Every PaymentIntent of every account, oldest first; the declined ones too. */
    paymentIntents: store.all,
    /**
     * Moves a PaymentIntent on, as time or its customer does, and reports it.
     *
     * @throws when its status does not allow the step
     */
    step: (id: string, step: Step): PaymentIntent => {
      const { account, intent } = known(id);
      const next = afterStep(intent, step, now());
      if (!next) throw new Error(`${id} is ${intent.status}, from which it cannot ${step}.`);
      store.replace(next);
      changed(intent, next, { account });
      return next;
    },
    /** Refunds a part of a succeeded PaymentIntent, or all of it, and reports it. */
    refund: (id: string, amount?: number): void => {
      const { account, intent } = known(id);
      balance.refunded(account, intent, charges.refund(intent, amount));
      events.emit(account, "charge.refunded", charges.of(intent) ?? {});
    },
    /** A customer disputes a succeeded PaymentIntent, all of it, and it is reported. */
    dispute: (id: string): void => {
      const { account, intent } = known(id);
      events.emit(account, "charge.dispute.created", disputeOf(intent, now()));
    },
    /** Edits a PaymentIntent as somebody in the dashboard may; its charge keeps what it was made with. */
    edit: (id: string, changes: Partial<Pick<PaymentIntent, "metadata" | "customer">>) =>
      store.replace({ ...known(id).intent, ...changes }),
    balance: balance as Pick<Balance, "settleIn" | "setLag">,
    webhooks: {
      faults: sender.faults,
      sendings: sender.sendings,
      idle: sender.idle,
      /** Registers an endpoint for the account of `sk_test_local`; answers with its secret. */
      register: (url: string, types: readonly string[]): string =>
        endpoints.register("acct_local", url, types),
    },
    /** Hears of every event, as Stripe's EventBridge destination does; the answer ends it. */
    onEvent: events.subscribe,
    /** How long after its creation search finds a PaymentIntent, in ms; a minute when never set. */
    setSearchLag: (ms: number) => void (searchLagMs = ms),
    stop: async (): Promise<void> => {
      await sender.stop();
      await server.stop();
    },
  };
}
