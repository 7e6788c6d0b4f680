// What each of Stripe's answers means. The errors are made by stripe-node from bodies as Stripe
// documents them: https://docs.stripe.com/api/errors

import { createServer } from "node:http";
import type { RequestListener } from "node:http";

import { Stripe } from "stripe";
import { expect, test } from "vitest";

import { answerOf, answerOfError } from "../../../lib/stripe/answers.ts";
import { stripeHttpClient } from "../../../lib/stripe/http-client.ts";
import { listen } from "../../support/listen.ts";

/** The error that stripe-node throws for what this listener answers. */
async function errorFrom(listener: RequestListener, timeout = 5_000): Promise<unknown> {
  const stripe = new Stripe("sk_test_local", {
    httpClient: stripeHttpClient(),
    protocol: "http",
    host: "127.0.0.1",
    port: await listen(createServer(listener)),
    maxNetworkRetries: 0,
  });
  return stripe.paymentIntents.retrieve("pi_1", {}, { timeout }).then(
    () => undefined,
    (error: unknown) => error,
  );
}

const errorFor = (status: number, body: unknown) =>
  errorFrom((_request, response) => {
    response.writeHead(status, { "request-id": "req_1" });
    response.end(typeof body === "string" ? body : JSON.stringify(body));
  });

const errorOf = (type: string, more: object = {}) => ({ error: { type, message: "…", ...more } });
const invalid = (code?: string) =>
  errorOf("invalid_request_error", code === undefined ? {} : { code, param: "amount" });
const KEY_IN_USE = errorOf("idempotency_error", { code: "idempotency_key_in_use" });
const RATE_LIMIT = "card_decline_rate_limit_exceeded";

test.each<[name: string, status: number, body: unknown, kind: string, code: string]>([
  ["409 key in use", 409, KEY_IN_USE, "stripe_key_in_use", "idempotency_key_in_use"],
  [
    "409 lock timeout",
    409,
    errorOf("api_error", { code: "lock_timeout" }),
    "stripe_unavailable",
    "lock_timeout",
  ],
  ["429", 429, invalid("rate_limit"), "stripe_rate_limited", "rate_limit"],
  ["500", 500, errorOf("api_error"), "stripe_unavailable", "http_500"],
  ["503", 503, errorOf("api_error"), "stripe_unavailable", "http_503"],
  ["a gateway's HTML", 502, "<html>Bad Gateway</html>", "stripe_unavailable", "no_json"],
  ["401", 401, invalid(), "stripe_configuration", "http_401"],
  ["403", 403, invalid(), "stripe_configuration", "http_403"],
  ["400", 400, invalid("amount_too_small"), "stripe_rejected", "amount_too_small"],
  ["404", 404, invalid("resource_missing"), "stripe_rejected", "resource_missing"],
  ["400 idempotency_error", 400, errorOf("idempotency_error"), "stripe_conflict", "http_400"],
  [
    "a card error that comes as 429",
    429,
    errorOf("card_error", { code: RATE_LIMIT }),
    "stripe_rate_limited",
    RATE_LIMIT,
  ],
  ["402 without a card error", 402, errorOf("api_error"), "unexpected", "http_402"],
  ...[
    "account_invalid",
    "api_key_expired",
    "livemode_mismatch",
    "platform_account_required",
    "platform_api_key_expired",
    "secret_key_required",
    "testmode_charges_only",
    "tls_version_unsupported",
  ].map((code): [string, number, unknown, string, string] => [
    `${code}, which says of the account that it charges nobody,`,
    400,
    invalid(code),
    "stripe_configuration",
    code,
  ]),
])("%s is no outcome", async (_name, status, body, kind, code) => {
  const answer = answerOfError(await errorFor(status, body));

  expect(answer).toMatchObject({ kind: "error", error: { kind, code } });
});

test.each([
  ["a connection that is refused", 5_000, "connection"],
  ["an answer that does not come in time", 50, "timeout"],
])("%s leaves the result unknown", async (_what, timeout, code) => {
  const error = await errorFrom(({ socket }) => {
    if (code === "connection") socket.destroy();
  }, timeout);

  expect(answerOfError(error)).toStrictEqual({
    kind: "error",
    error: { kind: "stripe_unavailable", code },
  });
});

test("an error's request id and parameter are kept, its text is not", async () => {
  const kept = { code: "resource_missing", param: "customer" };
  const error = { type: "invalid_request_error", ...kept, message: "No such: 'cus_secret'" };

  expect(answerOfError(await errorFor(400, { error }))).toEqual({
    kind: "error",
    error: { kind: "stripe_rejected", ...kept, requestId: "req_1" },
  });
});

test.each([
  [
    "with its codes and its PaymentIntent",
    {
      code: "card_declined",
      decline_code: "insufficient_funds",
      payment_intent: { id: "pi_7" },
    },
    { paymentIntentId: "pi_7", code: "card_declined", declineCode: "insufficient_funds" },
  ],
  ["without an empty decline code", { code: "expired_card" }, { code: "expired_card" }],
  ["that is a card error when it names no code", {}, { code: "card_error" }],
])("a decline is an outcome %s", async (_, fields, outcome) => {
  const error = { type: "card_error", ...fields };

  expect(answerOfError(await errorFor(402, { error }))).toStrictEqual({
    kind: "outcome",
    outcome: { result: "declined", ...outcome },
    requestId: "req_1",
  });
});

test("an error that is not Stripe's is thrown on", () => {
  const bug = new TypeError("undefined is not a function");

  expect(() => answerOfError(bug)).toThrow(bug);
});

const intent = (fields: object) => ({ id: "pi_1", ...fields }) as unknown as Stripe.PaymentIntent;

test.each(["succeeded", "processing", "requires_action", "canceled"])(
  "%s is an outcome",
  (status) => {
    expect(answerOf(intent({ status }), "req_1")).toEqual({
      kind: "outcome",
      outcome: { result: status, paymentIntentId: "pi_1" },
      requestId: "req_1",
    });
  },
);

test("a declined PaymentIntent that a lookup finds is that decline", () => {
  const last_payment_error = { code: "card_declined", decline_code: "lost_card" };
  const codes = { code: "card_declined", declineCode: "lost_card" };

  expect(answerOf(intent({ status: "requires_payment_method", last_payment_error }))).toStrictEqual(
    { kind: "outcome", outcome: { result: "declined", paymentIntentId: "pi_1", ...codes } },
  );
});

test.each(["requires_payment_method", "requires_confirmation", "requires_capture", "new"])(
  "the status %s is not expected, and no outcome",
  (status) => {
    expect(answerOf(intent({ status }))).toStrictEqual({
      kind: "error",
      error: { kind: "unexpected", code: `status_${status}` },
    });
  },
);
