/** What the server answers, before headers: the very thing an idempotency key stores. */
export type Answer = {
  status: number;
  body: object;
  /** The `Stripe-Should-Retry` header; absent when Stripe leaves the choice to the client. */
  shouldRetry?: boolean;
};

/** Stripe's error object: https://docs.stripe.com/api/errors. A field that does not apply is absent. */
type StripeErrorFields = {
  type: "api_error" | "card_error" | "idempotency_error" | "invalid_request_error";
  message: string;
  code?: string;
  decline_code?: string;
  param?: string;
  charge?: string;
  payment_intent?: object;
  payment_method?: object;
};

export function errorAnswer(
  status: number,
  error: StripeErrorFields,
  shouldRetry?: boolean,
): Answer {
  const doc_url =
    error.code && `https://stripe.com/docs/error-codes/${error.code.replaceAll("_", "-")}`;
  const body = { error: { ...error, ...(doc_url && { doc_url }) } };
  return { status, body, ...(shouldRetry !== undefined && { shouldRetry }) };
}

/** A 400 found before execution began: Stripe does not store it under the idempotency key. */
export function invalidRequest(
  message: string,
  details: { param?: string; code?: string } = {},
): Answer {
  return errorAnswer(400, { type: "invalid_request_error", message, ...details }, false);
}

export function invalidInteger(message: string, param: string): Answer {
  return invalidRequest(message, { param, code: "parameter_invalid_integer" });
}

/** `status` is 400 for a parameter that names a missing object, 404 for a missing object in the path. */
export function resourceMissing(object: string, id: string, param: string, status = 400): Answer {
  const message = `No such ${object}: '${id}'`;
  const type = "invalid_request_error";
  return errorAnswer(status, { type, code: "resource_missing", message, param }, false);
}

export function unknownUrl(method: string, path: string): Answer {
  const message =
    `Unrecognized request URL (${method}: ${path}). If you are trying to list objects, remove the trailing slash. ` +
    "If you are trying to retrieve an object, make sure you passed a valid (non-empty) identifier in your code. " +
    "Please see https://stripe.com/docs or we can help at https://support.stripe.com/.";
  return errorAnswer(404, { type: "invalid_request_error", message });
}

/** Adds the dashboard link that Stripe puts on every error of an authenticated request. */
export function withRequestLog(answer: Answer, requestId: string, nowMs: number): Answer {
  if (!("error" in answer.body)) return answer;
  const request_log_url = `https://dashboard.stripe.com/test/logs/${requestId}?t=${Math.floor(nowMs / 1000)}`;
  return { ...answer, body: { error: { ...(answer.body.error as object), request_log_url } } };
}

/**
 * Errors that come from Stripe's own state and not from the request. None is stored under a key.
 * A lock timeout is a 429 with `Stripe-Should-Retry: true` in Stripe's documentation
 * (https://docs.stripe.com/rate-limits#object-lock-timeouts); `conflict` is the same as a 409, which
 * https://docs.stripe.com/api/errors allows for.
 */
export const passingErrors = {
  rate_limit: errorAnswer(429, {
    type: "invalid_request_error",
    code: "rate_limit",
    message:
      "Request rate limit exceeded. Learn more about rate limits here https://stripe.com/docs/rate-limits.",
  }),
  lock_timeout: lockTimeout(429),
  conflict: lockTimeout(409),
  server_error: serverError(500),
  unavailable: serverError(503),
} satisfies Record<string, Answer>;

export function serverError(status: 500 | 503, shouldRetry?: boolean): Answer {
  const message =
    "Sorry! There was an error while talking to one of our backends. Support has been notified.";
  return errorAnswer(status, { type: "api_error", message }, shouldRetry);
}

function lockTimeout(status: 409 | 429): Answer {
  const message =
    "This object cannot be accessed right now because another API request or Stripe process is currently accessing it. " +
    "If you see this error intermittently, retry the request. If you see this error frequently and are making multiple " +
    "concurrent requests to a single object, make your requests serially or at a lower rate.";
  const type = "invalid_request_error";
  return errorAnswer(status, { type, code: "lock_timeout", message }, true);
}
