// Answers of the HTTP API: JSON, and problem details for what went wrong.
// https://www.rfc-editor.org/rfc/rfc9457

export type HttpResponse = {
  statusCode: number;
  headers: Record<string, string>;
  body: string;
  /** For the log alone: the error for which nothing was accepted. */
  cause?: unknown;
};

/** Every problem of the API: its status, and a title that is the same each time. */
const PROBLEMS = {
  "idempotency-key-missing": [400, "An Idempotency-Key header is required"],
  "idempotency-key-invalid": [400, "The Idempotency-Key header is not one valid key"],
  "not-found": [404, "There is no such payment"],
  "method-not-allowed": [405, "This method is not allowed here"],
  "body-too-large": [413, "The body is too large"],
  "unsupported-media-type": [415, "The body must be application/json"],
  "key-reused": [422, "This Idempotency-Key was used for another payment"],
  "invalid-payment": [422, "The payment is invalid"],
  unavailable: [503, "Nothing was accepted: try again with the same Idempotency-Key"],
} as const satisfies Record<string, readonly [number, string]>;

export type Problem = keyof typeof PROBLEMS;

export function problem(
  name: Problem,
  detail?: string,
  headers: Record<string, string> = {},
): HttpResponse {
  const [status, title] = PROBLEMS[name];
  return {
    statusCode: status,
    headers: {
      "content-type": "application/problem+json",
      "cache-control": "no-store",
      ...headers,
    },
    body: JSON.stringify({
      type: `urn:payment-worker:problem:${name}`,
      title,
      status,
      ...(detail !== undefined && { detail }),
    }),
  };
}

export function json(
  statusCode: number,
  value: object,
  headers: Record<string, string> = {},
): HttpResponse {
  return {
    statusCode,
    headers: { "content-type": "application/json", "cache-control": "no-store", ...headers },
    body: JSON.stringify(value),
  };
}
