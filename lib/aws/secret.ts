// A secret from Secrets Manager, the plain string, kept for five minutes.

import { GetSecretValueCommand } from "@aws-sdk/client-secrets-manager";
import type { SecretsManagerClient } from "@aws-sdk/client-secrets-manager";

import { withTimeLimit } from "../net/time-limit.ts";

/** Where a secret comes from. */
export interface Secret {
  get(): Promise<string>;
  /** Forgets a value that Stripe did not accept: it may have been rotated. */
  drop(value: string): void;
}

/** A secret that cannot be what it should be. Its name is what the log says, its text quotes nothing. */
export class UnusableSecret extends Error {
  constructor(name: string, message: string) {
    super(message);
    this.name = name;
  }
}

// One that is rolled may stay valid for a while; five minutes is well within.
const CACHE_MS = 5 * 60 * 1_000;

// Until Secrets Manager is asked again after it did not answer.
const RETRY_MS = 30 * 1_000;

/**
 * `get` throws within `timeoutMs` when no value is available; while Secrets Manager does not answer,
 * the last one stays in use. `check` makes a value of the stored string, or throws UnusableSecret.
 */
export function cachedSecret(
  client: SecretsManagerClient,
  secretArn: string,
  timeoutMs: number,
  now: () => number,
  check: (stored: string) => string,
): Secret {
  let cached: { value: Promise<string>; expiresAt: number } | undefined;
  let latest: string | undefined;

  const fetchValue = async (): Promise<string> => {
    try {
      const command = new GetSecretValueCommand({ SecretId: secretArn });
      const { SecretString } = await withTimeLimit(timeoutMs, (options) =>
        client.send(command, options),
      );
      latest = check(SecretString ?? "");
      return latest;
    } catch (error) {
      if (latest !== undefined && !(error instanceof UnusableSecret)) {
        cached = { value: Promise.resolve(latest), expiresAt: now() + RETRY_MS };
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
        cached = { value: fetchValue(), expiresAt: now() + CACHE_MS };
      }
      return cached.value;
    },
    drop(value) {
      if (latest !== value) return;
      cached = undefined;
      latest = undefined;
    },
  };
}
