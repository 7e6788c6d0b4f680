// Retrieving a PaymentIntent, from a server that answers as Stripe documents.

import { createServer } from "node:http";

import { expect, test } from "vitest";

import { fixedKey } from "../../../lib/stripe/api-key.ts";
import { stripePayments } from "../../../lib/stripe/payments.ts";
import { listen } from "../../support/listen.ts";

const INTENT = {
  id: "pi_1",
  object: "payment_intent",
  status: "succeeded",
  amount: 1250,
  currency: "eur",
  metadata: { message_id: "order-1" },
  latest_charge: "ch_1",
};
const ERROR = { type: "invalid_request_error", code: "resource_missing" };

/** Payments of a Stripe that always answers this; `asked` is what it was asked. */
async function prepare(status: number, body: object) {
  const asked: (string | undefined)[] = [];
  const server = createServer((request, response) => {
    asked.push(request.url);
    response.writeHead(status, { "request-id": "req_1" }).end(JSON.stringify(body));
  });
  const base = new URL(`http://127.0.0.1:${await listen(server)}`);
  return { asked, payments: stripePayments(fixedKey("sk_test_local"), base) };
}

const found = (outcome: object) => ({
  found: { paymentIntentId: "pi_1", messageId: "order-1", outcome, amount: 1250, currency: "eur" },
});

const failed = (kind: string, code: string) => ({ error: { kind, code, requestId: "req_1" } });
const BOUNCED = {
  ...INTENT,
  status: "requires_payment_method",
  last_payment_error: { code: "debit_not_authorized" },
};
const HELD = { ...INTENT, status: "requires_capture" };

test.each<[number, object, object]>([
  [200, INTENT, found({ result: "succeeded", paymentIntentId: "pi_1" })],
  [
    200,
    BOUNCED,
    found({ result: "failed", paymentIntentId: "pi_1", code: "debit_not_authorized" }),
  ],
  [200, HELD, failed("unexpected", "status_requires_capture")],
  [200, { ...INTENT, metadata: {} }, { foreign: true }],
  // What is invalid is the question: it says nothing of the payment.
  [404, { error: ERROR }, failed("stripe_lookup", "resource_missing")],
  [401, { error: { type: ERROR.type } }, failed("stripe_configuration", "http_401")],
  [402, { error: { type: "card_error" } }, { error: { kind: "unexpected", code: "card_error" } }],
])("of %i %j a finalizer reads %j", async (status, body, expected) => {
  const { asked, payments } = await prepare(status, body);

  expect(await payments.retrieve("pi_1", 5_000)).toStrictEqual(expected);
  expect(asked).toEqual(["/v1/payment_intents/pi_1"]);
});

test.each<[number, object, object]>([
  [200, { ...INTENT, latest_charge: { amount_refunded: 200 } }, { amountRefunded: 200 }],
  [200, INTENT, { amountRefunded: 0 }], // Stripe did not expand it
  [200, { ...INTENT, latest_charge: null }, { amountRefunded: 0 }],
])("of %i %j a refund is %j", async (status, body, { ...refund }) => {
  const { asked, payments } = await prepare(status, body);

  expect(await payments.refunded("pi_1", 5_000)).toStrictEqual({
    found: { paymentIntentId: "pi_1", messageId: "order-1", currency: "eur", ...refund },
  });
  expect(asked).toEqual(["/v1/payment_intents/pi_1?expand[0]=latest_charge"]);
});

test("a refund of a PaymentIntent that cannot be read is an error, and of another's is foreign", async () => {
  const missing = await prepare(404, { error: ERROR });
  const another = await prepare(200, { ...INTENT, metadata: {} });

  expect(await missing.payments.refunded("pi_1", 5_000)).toMatchObject({
    error: { kind: "stripe_lookup" },
  });
  expect(await another.payments.refunded("pi_1", 5_000)).toEqual({ foreign: true });
});

test("no answer in time is no answer", async () => {
  const base = new URL(`http://127.0.0.1:${await listen(createServer(() => {}))}`);
  const payments = stripePayments(fixedKey("sk_test_local"), base);

  expect(await payments.retrieve("pi_1", 50)).toEqual({
    error: { kind: "stripe_unavailable", code: "timeout" },
  });
});
