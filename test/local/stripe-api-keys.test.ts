import { expect, test } from "vitest";

import { clientOf, failureOf, payment, startedStripe } from "./stripe-fixture.ts";

test.for([
  ["sk_test_placeholder", "Expired API Key provided: sk_test_*******lder", "api_key_expired"],
  ["rk_test_abc123", "Expired API Key provided: rk_test_**c123", "api_key_expired"],
] as const)("the revoked key %s gets 401 with the key redacted", async ([key, message, code]) => {
  const { server } = await startedStripe();
  server.keys.revoke(key);

  const error = await failureOf(clientOf(server, key).paymentIntents.create(payment()));

  expect(error).toMatchObject({
    type: "StripeAuthenticationError",
    statusCode: 401,
    code,
    message,
  });
  expect(server.paymentIntents()).toEqual([]);
});

test.for([
  ["sk_live_placeholder", "Invalid API Key provided: sk_live_*******lder", undefined],
  ["nonsense", "Invalid API Key provided: ****ense", undefined],
  ["abcd", "Invalid API Key provided: ****", undefined],
  [
    "pk_test_placeholder",
    "This API call cannot be made with a publishable API key. Please use a secret API key. " +
      "You can find a list of your API keys at https://dashboard.stripe.com/account/apikeys.",
    "secret_key_required",
  ],
] as const)("%s is no test key and gets 401", async ([key, message, code]) => {
  const { server } = await startedStripe();
  const error = await failureOf(clientOf(server, key).paymentIntents.create(payment()));

  expect(error).toMatchObject({ type: "StripeAuthenticationError", statusCode: 401, message });
  expect(error.code).toBe(code);
});

test.for([{}, { authorization: "Digest sk_test_local" }, { authorization: "Bearer" }] as Record<
  string,
  string
>[])("a request with %o has no key: it gets 401 and how to send one", async (headers) => {
  const { server } = await startedStripe();
  const response = await fetch(`${server.url}/v1/payment_intents`, { headers });

  const body = (await response.json()) as { error: { type: string; message: string } };
  expect(response.status).toBe(401);
  expect(body.error.type).toBe("invalid_request_error");
  expect(body.error.message).toMatch(/^You did not provide an API key\./);
});

test("the key as the user name of Basic authentication works", async () => {
  const { server } = await startedStripe();
  const authorization = `Basic ${Buffer.from("sk_test_local:").toString("base64")}`;

  const response = await fetch(`${server.url}/v1/payment_intents`, { headers: { authorization } });

  expect(response.status).toBe(200);
});
