import { errorAnswer, invalidRequest } from "./errors.ts";
import type { Answer } from "./errors.ts";

/**
 * Stripe may remove a key once it is 24 hours old (https://docs.stripe.com/api/idempotent_requests).
 * This server removes it at that very moment, which is the worst that a client may meet.
 */
const KEY_LIFETIME_MS = 24 * 60 * 60 * 1000;

const LONGEST_KEY = 255;

type Use = {
  account: string;
  key: string;
  endpoint: string;
  parameters: string;
  requestId: string;
};

type Entry = Use & { firstUsedAt: number; answer?: Answer };

type KeyDecision =
  /** The key is held until `store` or `forget` is called: meanwhile the same key gets 409. */
  | { kind: "execute"; store(answer: Answer): void; forget(): void }
  | { kind: "replay"; answer: Answer; originalRequestId: string }
  | { kind: "refused"; answer: Answer };

/** The keys of all accounts. `now` is in ms. */
export function createIdempotencyKeys(now: () => number) {
  // Insertion order is the order of first use, so the oldest keys are at the front.
  const entries = new Map<string, Entry>();

  function prune(): void {
    for (const [id, entry] of entries) {
      if (now() - entry.firstUsedAt < KEY_LIFETIME_MS) return;
      if (entry.answer) entries.delete(id);
    }
  }

  return function begin(use: Use): KeyDecision {
    if (use.key.length > LONGEST_KEY) return refused(keyTooLong(use.key));
    prune();
    const id = `${use.account} ${use.key}`;
    const known = entries.get(id);
    if (!known) {
      const entry: Entry = { ...use, firstUsedAt: now() };
      entries.set(id, entry);
      return {
        kind: "execute",
        store: (answer) => void (entry.answer = answer),
        forget: () => void entries.delete(id),
      };
    }
    if (known.endpoint !== use.endpoint) return refused(otherEndpoint(known, use));
    if (known.parameters !== use.parameters) return refused(otherParameters(use.key));
    if (!known.answer) return refused(keyInUse(use.key));
    return { kind: "replay", answer: known.answer, originalRequestId: known.requestId };
  };
}

const refused = (answer: Answer): KeyDecision => ({ kind: "refused", answer });

export function keyInUse(key: string): Answer {
  const message =
    "There is currently another in-progress request using this Idempotent Key (that probably means you submitted twice, " +
    `and the other request is still going through): ${key}. Please try again later.`;
  const type = "idempotency_error";
  return errorAnswer(409, { type, code: "idempotency_key_in_use", message }, true);
}

function otherParameters(key: string): Answer {
  const message =
    "Keys for idempotent requests can only be used with the same parameters they were first used with. " +
    `Try using a key other than '${key}' if you meant to execute a different request.`;
  return errorAnswer(400, { type: "idempotency_error", message }, false);
}

function otherEndpoint(first: Use, use: Use): Answer {
  const message =
    "Keys for idempotent requests can only be used for the same endpoint they were first used for " +
    `('${use.endpoint}' vs '${first.endpoint}'). Try using a key other than '${use.key}' if you meant to execute a different request.`;
  return errorAnswer(400, { type: "idempotency_error", message }, false);
}

function keyTooLong(key: string): Answer {
  return invalidRequest(
    `Idempotency keys can have up to ${LONGEST_KEY} characters, but you passed in a key that is ${key.length} characters.`,
  );
}
