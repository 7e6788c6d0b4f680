import { errorAnswer } from "./errors.ts";
import type { Answer } from "./errors.ts";

type Authentication = { account: string } | { refused: Answer };

/**
 * Only the keys that were `issued` work, or any `sk_test_…` or `rk_test_…` key when that is absent,
 * until they are revoked. The account is the part before a
 * further underscore, so `sk_test_shop_old` and `sk_test_shop_new` are two keys of one account, as after a rotation.
 */
export function createApiKeys(issued?: readonly string[]) {
  const revoked = new Set<string>();

  /** Which API keys the server accepts, settable while it runs. */
  const keys = {
    /** From now on the key gets 401, as a rolled key does once it has expired. */
    revoke: (key: string) => void revoked.add(key),
  };

  function authenticate(authorization: string | undefined): Authentication {
    const key = presentedKey(authorization);
    if (!key) return { refused: missingKey() };
    if (key.startsWith("pk_")) return { refused: publishableKey() };
    const account = /^[sr]k_test_([A-Za-z0-9]+)(?:_[A-Za-z0-9]+)*$/.exec(key)?.[1];
    if (!account || (issued && !issued.includes(key)))
      return { refused: refusedKey(invalidKey(key)) };
    if (revoked.has(key)) return { refused: refusedKey(expiredKey(key)) };
    return { account: `acct_${account}` };
  }

  return { keys, authenticate };
}

/** Bearer, or Basic with the key as the user name: https://docs.stripe.com/api/authentication. */
function presentedKey(authorization = ""): string | undefined {
  const [scheme, credentials = ""] = authorization.split(" ");
  if (scheme?.toLowerCase() === "bearer") return credentials;
  if (scheme?.toLowerCase() !== "basic") return undefined;
  return Buffer.from(credentials, "base64").toString().split(":")[0];
}

/** `sk_test_placeholder` → `sk_test_*******lder`, as in Stripe's own messages. */
function redactedKey(key: string): string {
  const prefix = /^[a-z]+_(?:test|live)_/.exec(key)?.[0] ?? "";
  const secret = key.slice(prefix.length);
  const end = secret.length > 4 ? secret.slice(-4) : "";
  return prefix + "*".repeat(secret.length - end.length) + end;
}

export function refusedKey(error: { message: string; code?: string }): Answer {
  return errorAnswer(401, { type: "invalid_request_error", ...error });
}

export function invalidKey(key: string) {
  return { message: `Invalid API Key provided: ${redactedKey(key)}` };
}

export function expiredKey(key: string) {
  return { code: "api_key_expired", message: `Expired API Key provided: ${redactedKey(key)}` };
}

function missingKey(): Answer {
  const message =
    "You did not provide an API key. You need to provide your API key in the Authorization header, using Bearer auth " +
    "(e.g. 'Authorization: Bearer YOUR_SECRET_KEY'). See https://stripe.com/docs/api#authentication for details, " +
    "or we can help at https://support.stripe.com/.";
  return refusedKey({ message });
}

function publishableKey(): Answer {
  const message =
    "This API call cannot be made with a publishable API key. Please use a secret API key. " +
    "You can find a list of your API keys at https://dashboard.stripe.com/account/apikeys.";
  return refusedKey({ code: "secret_key_required", message });
}

export function forbidden(key: string, account: string, access: "read" | "write"): Answer {
  const name = access === "write" ? "Write" : "Read";
  const message =
    `The provided key '${redactedKey(key)}' does not have the required permissions for this endpoint on account ` +
    `'${account}'. Enabling "PaymentIntents ${name}" ('rak_payment_intent_${access}') permissions on this key would allow this request to continue.`;
  return errorAnswer(403, { type: "invalid_request_error", message });
}
