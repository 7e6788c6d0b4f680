// Stripe on a laptop: PaymentIntents and idempotency as https://docs.stripe.com/api has them.
import { startHttpServer } from "../http-server.ts";
import type { HttpServer, Listening } from "../http-server.ts";
import { createApiKeys } from "./api-keys.ts";
import type { ApiKeys } from "./api-keys.ts";
import { createDecide } from "./decide.ts";
import { createExchange } from "./exchange.ts";
import { phaseOfOwn, withOutage } from "./faults.ts";
import type { Faults, OwnFault } from "./faults.ts";
import { createIdempotencyKeys } from "./idempotency.ts";
import { createLedger } from "./ledger.ts";
import type { Charge, Ledger, RequestRecord } from "./ledger.ts";
import { createPaymentIntentStore } from "./payment-intent-store.ts";
import type { PaymentIntent } from "./payment-intent.ts";
import { createRoutes } from "./routes.ts";

/** Its `url` is what `STRIPE_API_BASE` takes. */
export type StripeServer = Omit<HttpServer<RequestRecord, OwnFault>, "faults"> & {
  faults: Faults;
  ledger: Ledger;
  keys: ApiKeys;
  /** Every PaymentIntent of every account, oldest first; the declined ones too. */
  paymentIntents: () => readonly PaymentIntent[];
  /** How long after its creation search finds a PaymentIntent, in ms; a minute when never set. */
  setSearchLag: (ms: number) => void;
};

/**
 * `now` is ms since the epoch; `created`, the life of idempotency keys and the lag of search go by it.
 *
 * @throws when the port is taken
 */
export async function startStripe(
  options: Listening & {
    now?: () => number;
    /** Told of each request when it is over, a dropped one too. */
    onEnd?: (request: RequestRecord) => void;
    onCharge?: (charge: Charge) => void;
  } = {},
): Promise<StripeServer> {
  const now = options.now ?? Date.now;
  const { ledger, write } = createLedger();
  const { keys, ...apiKeys } = createApiKeys();
  const store = createPaymentIntentStore();
  let searchLagMs = 60_000;
  const route = createRoutes({
    now,
    store,
    searchLagMs: () => searchLagMs,
    charged(charge) {
      write.charge(charge);
      options.onCharge?.(charge);
    },
  });
  const decide = createDecide({ ...apiKeys, now, route, beginKey: createIdempotencyKeys(now) });
  const server = await startHttpServer<RequestRecord, OwnFault>({
    port: options.port,
    host: options.host,
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
    paymentIntents: store.all,
    setSearchLag: (ms) => void (searchLagMs = ms),
  };
}
