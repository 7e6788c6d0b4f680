// The Stripe API key, and the mode that it is of.

import type { SecretsManagerClient } from "@aws-sdk/client-secrets-manager";

import { cachedSecret, UnusableSecret } from "../aws/secret.ts";
import type { Secret } from "../aws/secret.ts";

export type StripeMode = "live" | "test";

/** Where the API key comes from. */
export type StripeKeys = Secret;

/** The key of a secret: see `cachedSecret`. */
export function secretKeys(
  client: SecretsManagerClient,
  secretArn: string,
  timeoutMs: number,
  now: () => number,
  mode?: StripeMode,
): StripeKeys {
  return cachedSecret(client, secretArn, timeoutMs, now, (stored) => checkKey(stored, mode));
}

/** A key from the environment: local and SAM only. */
export function fixedKey(key: string, mode?: StripeMode): StripeKeys {
  return { get: async () => checkKey(key, mode), drop: () => {} };
}

/**
 * The key itself, without the line break that comes with pasting. A restricted key has the prefix of
 * its mode too: https://docs.stripe.com/keys
 *
 * @throws UnusableSecret
 */
function checkKey(secret: string, mode: StripeMode | undefined): string {
  const key = secret.trim();
  if (!/^[rs]k_[A-Za-z0-9_]+$/.test(key)) {
    throw new UnusableSecret(
      "NoStripeKey",
      "The secret is not a Stripe API key: store the key itself (rk_… or sk_…) as the plain secret string.",
    );
  }
  const other = mode === "live" ? "test" : "live";
  if (mode && key.slice(3).startsWith(`${other}_`)) {
    throw new UnusableSecret(
      "WrongStripeMode",
      `The Stripe API key is a ${other} key, and STRIPE_MODE is ${mode}: store a ${mode} key, or deploy for ${other} mode.`,
    );
  }
  return key;
}
