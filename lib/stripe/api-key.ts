// The Stripe key from Secrets Manager, the plain secret string, kept for five minutes.

import { GetSecretValueCommand } from "@aws-sdk/client-secrets-manager";
import type { SecretsManagerClient } from "@aws-sdk/client-secrets-manager";

export type StripeMode = "live" | "test";

/** Where the API key comes from. */
export interface StripeKeys {
  get(): Promise<string>;
  /** Forgets a key that Stripe refused: it may have been rotated. */
  drop(key: string): void;
}

// A key that is rolled in Stripe's dashboard may stay valid for a while; five minutes is well within.
const CACHE_MS = 5 * 60 * 1_000;

// Until Secrets Manager is asked again after it did not answer.
const RETRY_MS = 30 * 1_000;

/**
 * The key of a secret. `get` throws within `timeoutMs` when no key is available; while Secrets
 * Manager does not answer, the last key stays in use.
 */
export function secretKeys(
  client: SecretsManagerClient,
  secretArn: string,
  timeoutMs: number,
  now: () => number,
  mode?: StripeMode,
): StripeKeys {
  let cached: { key: Promise<string>; expiresAt: number } | undefined;
  let latest: string | undefined;

  const fetchKey = async (): Promise<string> => {
    try {
      const command = new GetSecretValueCommand({ SecretId: secretArn });
      const abortSignal = AbortSignal.timeout(timeoutMs);
      const { SecretString } = await client.send(command, { abortSignal });
      latest = checkKey(SecretString ?? "", mode);
      return latest;
    } catch (error) {
      if (latest !== undefined && !(error instanceof UnusableKey)) {
        cached = { key: Promise.resolve(latest), expiresAt: now() + RETRY_MS };
        return latest;
      }
      cached = undefined; // the next caller tries again
      throw error;
    }
  };

  return {
    get() {
      // The promise is what is kept, so that a batch asks once.
      if (!cached || cached.expiresAt <= now()) {
        cached = { key: fetchKey(), expiresAt: now() + CACHE_MS };
      }
      return cached.key;
    },
    drop(key) {
      if (latest !== key) return;
      cached = undefined;
      latest = undefined;
    },
  };
}

/** A key from the environment: local and SAM only. */
export function fixedKey(key: string, mode?: StripeMode): StripeKeys {
  return { get: async () => checkKey(key, mode), drop: () => {} };
}

/** Its name is what the log says of it, its text quotes no secret. */
class UnusableKey extends Error {
  constructor(name: "NoStripeKey" | "WrongStripeMode", message: string) {
    super(message);
    this.name = name;
  }
}

/**
 * The key itself, without the line break that comes with pasting. A restricted key has the prefix of
 * its mode too: https://docs.stripe.com/keys
 *
 * @throws UnusableKey
 */
function checkKey(secret: string, mode: StripeMode | undefined): string {
  const key = secret.trim();
  if (!/^[rs]k_[A-Za-z0-9_]+$/.test(key)) {
    throw new UnusableKey(
      "NoStripeKey",
      "The secret is not a Stripe API key: store the key itself (rk_… or sk_…) as the plain secret string.",
    );
  }
  const other = mode === "live" ? "test" : "live";
  if (mode && key.slice(3).startsWith(`${other}_`)) {
    throw new UnusableKey(
      "WrongStripeMode",
      `The Stripe API key is a ${other} key, and STRIPE_MODE is ${mode}: store a ${mode} key, or deploy for ${other} mode.`,
    );
  }
  return key;
}
