// Stripe, as the worker of the target reaches it.
import { Agent as HttpAgent } from "node:http";
import { Agent as HttpsAgent } from "node:https";

import { SecretsManagerClient } from "@aws-sdk/client-secrets-manager";
import { Stripe } from "stripe";

import { fixedKey, secretKeys } from "../../lib/stripe/api-key.ts";
import { linkTo } from "../explain/payment-intent-link.ts";
import { regionOf } from "./clients.ts";
import { need } from "./target.ts";
import type { Target } from "./target.ts";

/**
 * Stripe, with the key of the local stack, else `STRIPE_API_KEY`, else the one in the secret. `retries`
 * is how often an unanswered call is repeated, which is safe: every call only reads.
 * Take it with `using`.
 *
 * @throws UsageError when the target names no secret
 */
export async function stripeFor(target: Target, retries: number) {
  const environment = { ...process.env, ...target.local?.env };
  const base = URL.parse(environment["STRIPE_API_BASE"] ?? "");
  const given = environment["STRIPE_API_KEY"];
  const key = given
    ? await fixedKey(given).get()
    : await secretKeys(
        new SecretsManagerClient(regionOf(target)),
        need(target, "secretArn"),
        10_000,
        Date.now,
      ).get();
  const agent = new (base?.protocol === "http:" ? HttpAgent : HttpsAgent)({ keepAlive: true });
  const stripe = new Stripe(key, {
    maxNetworkRetries: retries,
    timeout: 20_000,
    telemetry: false,
    httpClient: Stripe.createNodeHttpClient(agent),
    ...(base && {
      protocol: base.protocol === "https:" ? "https" : "http",
      host: base.hostname,
      port: base.port,
    }),
  });
  return {
    stripe,
    link: linkTo(key, base),
    // stripe-node does not read the answer to a request that it repeats: the connection stays open,
    // and with it the process, for the timeout.
    [Symbol.dispose]: () => agent.destroy(),
  };
}
