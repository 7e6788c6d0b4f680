import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

import { createApiKeys } from "./api-keys.ts";
import type { ApiKeys } from "./api-keys.ts";
import { createDecide } from "./decide.ts";
import { createExchange } from "./exchange.ts";
import { createFaults } from "./faults.ts";
import type { Faults } from "./faults.ts";
import { createIdempotencyKeys } from "./idempotency.ts";
import { createLedger } from "./ledger.ts";
import type { Ledger } from "./ledger.ts";
import { createPaymentIntentStore } from "./payment-intent-store.ts";
import type { PaymentIntent } from "./payment-intent.ts";
import { createRoutes } from "./routes.ts";

export type StripeServer = {
  /** What `STRIPE_API_BASE` takes. */
  url: string;
  port: number;
  ledger: Ledger;
  faults: Faults;
  keys: ApiKeys;
  /** Every PaymentIntent of every account, oldest first; the declined ones too. */
  paymentIntents(): readonly PaymentIntent[];
  /** How long after its creation search finds a PaymentIntent, in ms; a minute when never set. */
  setSearchLag(ms: number): void;
  /** Closes every connection; safe to call twice. */
  stop(): Promise<void>;
};

/**
 * A Stripe of our own on 127.0.0.1: PaymentIntents and idempotency as https://docs.stripe.com/api has
 * them, and faults that a test plans. `now` is ms since the epoch; `created`, the life of idempotency
 * keys and the lag of search go by it. `port` 0, or none, takes a free one.
 */
export async function startStripe(
  options: { port?: number; now?: () => number } = {},
): Promise<StripeServer> {
  const now = options.now ?? Date.now;
  const { ledger, write } = createLedger();
  const { faults, due } = createFaults();
  const { keys, ...apiKeys } = createApiKeys();
  const store = createPaymentIntentStore();
  let searchLagMs = 60_000;
  const route = createRoutes({
    now,
    store,
    searchLagMs: () => searchLagMs,
    charged: (charge) => write.charge(charge),
  });
  const decide = createDecide({ ...apiKeys, now, route, beginKey: createIdempotencyKeys(now) });

  // A delayed request of a stopped server is never carried out: its wait does not end.
  const timers = new Set<NodeJS.Timeout>();
  const wait = (ms: number) =>
    new Promise<void>((resolve) => {
      const timer = setTimeout(() => {
        timers.delete(timer);
        resolve();
      }, ms);
      timers.add(timer);
    });

  const exchange = createExchange({ now, decide, due, ledger: write, wait });
  const server = createServer((request, response) => void exchange(request, response));
  // Longer than any client keeps an idle connection, so that none is closed under a request.
  server.keepAliveTimeout = 600_000;
  server.on("connection", () => write.connection());
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(options.port ?? 0, "127.0.0.1", resolve);
  });
  const { port } = server.address() as AddressInfo;

  return {
    url: `http://127.0.0.1:${port}`,
    port,
    ledger,
    faults,
    keys,
    paymentIntents: store.all,
    setSearchLag: (ms) => void (searchLagMs = ms),
    stop: () =>
      new Promise((resolve) => {
        for (const timer of timers) clearTimeout(timer);
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
