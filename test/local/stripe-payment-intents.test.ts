import { expect, test } from "vitest";

import { clientOf, failureOf, payment, startedStripe } from "./stripe-fixture.ts";

test("a confirmed payment succeeds and keeps what was sent", async () => {
  const { stripe } = await startedStripe();
  const intent = await stripe.paymentIntents.create(
    payment({
      currency: "EUR",
      description: "Order 7",
      statement_descriptor_suffix: "ORDER 7",
      metadata: { message_id: "m-1", shop: "a & b=c" },
    }),
  );

  expect(intent).toMatchObject({
    object: "payment_intent",
    status: "succeeded",
    amount: 1200,
    amount_received: 1200,
    currency: "eur",
    customer: "cus_anna",
    description: "Order 7",
    statement_descriptor_suffix: "ORDER 7",
    metadata: { message_id: "m-1", shop: "a & b=c" },
    created: 1_772_366_400,
    livemode: false,
    automatic_payment_methods: { enabled: true, allow_redirects: "always" },
    payment_method_types: ["card", "us_bank_account"],
    last_payment_error: null,
    next_action: null,
  });
  expect(intent.id).toMatch(/^pi_/);
  expect(intent.latest_charge).toMatch(/^ch_/);
  expect(intent.payment_method).toMatch(/^pm_1/);
});

test("the payment method of a customer keeps its id", async () => {
  const { stripe } = await startedStripe();
  const intent = await stripe.paymentIntents.create(payment({ payment_method: "pm_1Anna" }));

  expect(intent).toMatchObject({ status: "succeeded", payment_method: "pm_1Anna" });
});

test("a PaymentIntent is retrieved by its id, and only by its own account", async () => {
  const { server, stripe } = await startedStripe();
  const created = await stripe.paymentIntents.create(payment());

  const found = await stripe.paymentIntents.retrieve(created.id);
  const other = await failureOf(
    clientOf(server, "sk_test_other").paymentIntents.retrieve(created.id),
  );

  expect(found).toEqual(created);
  expect(other).toMatchObject({
    type: "StripeInvalidRequestError",
    statusCode: 404,
    code: "resource_missing",
    param: "intent",
    message: `No such payment_intent: '${created.id}'`,
    doc_url: "https://stripe.com/docs/error-codes/resource-missing",
  });
  expect(other.headers?.["stripe-should-retry"]).toBe("false");
});

const EMPTY_AMOUNT =
  "You passed an empty string for 'amount'. We assume empty values are an attempt to unset a parameter; however " +
  "'amount' cannot be unset. You should remove 'amount' from your request or supply a non-empty value.";
const DEBIT = { currency: "usd", payment_method: "pm_usBankAccount_success" };
const LONG_KEY = "a234567890b234567890c234567890d2345678901";

const keys = (count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`key${index}`, "x"]));

const rejected = (
  param: string,
  code: string | undefined,
  ...rows: [over: object, message: string][]
) => rows.map(([over, message]) => ({ param, code, over, message }));

test.for([
  ...rejected("amount", "parameter_missing", [
    { amount: undefined },
    "Missing required param: amount.",
  ]),
  ...rejected("currency", "parameter_missing", [
    { currency: undefined },
    "Missing required param: currency.",
  ]),
  ...rejected("amount", "parameter_invalid_empty", [{ amount: "" }, EMPTY_AMOUNT]),
  ...rejected(
    "amount",
    "parameter_invalid_integer",
    [{ amount: 7840.000000000001 }, "Invalid integer: 7840.000000000001"],
    [{ amount: 0 }, "This value must be greater than or equal to 1."],
    [{ amount: 1, currency: "bhd" }, "Invalid amount: 1 bhd is not evenly divisible by 10"],
    [{ amount: 99, currency: "jod" }, "Invalid amount: 99 jod is not evenly divisible by 10"],
    [{ amount: 1_005, currency: "kwd" }, "Invalid amount: 1005 kwd is not evenly divisible by 10"],
    [{ amount: 101, currency: "omr" }, "Invalid amount: 101 omr is not evenly divisible by 10"],
    [{ amount: 5_124, currency: "tnd" }, "Invalid amount: 5124 tnd is not evenly divisible by 10"],
    [{ amount: 5_050, currency: "isk" }, "Invalid amount: 5050 isk is not evenly divisible by 100"],
    [{ amount: 550, currency: "ugx" }, "Invalid amount: 550 ugx is not evenly divisible by 100"],
  ),
  ...rejected(
    "amount",
    "amount_too_small",
    [{ amount: 49, currency: "usd" }, "Amount must be at least $0.50 usd"],
    [{ amount: 49, currency: "jpy" }, "Amount must be at least ¥50 jpy"],
  ),
  ...rejected(
    "amount",
    "amount_too_large",
    [{ amount: 1e12, currency: "usd" }, "Amount must be no more than $9,999,999,999.99"],
    [{ ...DEBIT, amount: 1e8 }, "Amount must be no more than $999,999.99"],
    [{ amount: 1e9, payment_method: "pm_card_amex" }, "Amount must be no more than €9,999,999.99"],
  ),
  ...rejected("customer", "resource_missing", [
    { customer: "cus_missing" },
    "No such customer: 'cus_missing'",
  ]),
  ...rejected(
    "payment_method",
    "resource_missing",
    [{ payment_method: "pm_missing" }, "No such PaymentMethod: 'pm_missing'"],
    [{ payment_method: "pm_card_declinedd" }, "No such PaymentMethod: 'pm_card_declinedd'"],
  ),
  ...rejected("payment_method", "parameter_missing", [
    { payment_method: undefined },
    "Missing required param: payment_method.",
  ]),
  ...rejected("amont", "parameter_unknown", [{ amont: 1 }, "Received unknown parameter: amont"]),
  ...rejected(
    "payment_method_types", // of older API versions
    "parameter_unknown",
    [{ payment_method_types: ["card"] }, "Received unknown parameter: payment_method_types"],
  ),
  ...rejected(
    "confirm",
    undefined,
    [{ confirm: "yes" }, "Invalid boolean: yes"],
    [{ confirm: false }, "The local Stripe server wants 'confirm' to be true."],
  ),
  ...rejected("off_session", undefined, [
    { off_session: undefined },
    "The local Stripe server wants 'off_session' to be true.",
  ]),
  ...rejected(
    "description",
    undefined,
    [{ description: { a: "b" } }, 'Invalid string: {"a":"b"}'],
    [{ description: "😀".repeat(1_001) }, "must be at most 1000 characters"],
  ),
  ...rejected(
    "metadata",
    undefined,
    [{ metadata: "m-1" }, "Invalid object"],
    [{ metadata: { [LONG_KEY]: "x" } }, `a key that is 41 characters. Invalid key: ${LONG_KEY}`],
    [{ metadata: keys(51) }, "up to 50 keys, but you passed in 51 keys."],
  ),
  ...rejected("metadata[a]", undefined, [
    { metadata: { a: "x".repeat(501) } },
    "up to 500 characters",
  ]),
  ...rejected("statement_descriptor_suffix", undefined, [
    { statement_descriptor_suffix: "X".repeat(23) },
    "must be at most 22 characters",
  ]),
  // It would be a different payment if it were ignored.
  ...rejected("capture_method", undefined, [
    { capture_method: "manual" },
    "does not emulate 'capture_method': leave it out of",
  ]),
  ...rejected("currency", undefined, [
    { currency: "euro" },
    "Invalid currency: euro. Stripe currently supports these currencies: usd, ",
  ]),
])(
  'a create is rejected with "$message", and nothing is made',
  async ({ over, message, code, param }) => {
    const { server, stripe } = await startedStripe();

    const error = await failureOf(stripe.paymentIntents.create(payment(over)));

    expect(error).toMatchObject({
      type: "StripeInvalidRequestError",
      rawType: "invalid_request_error",
      statusCode: 400,
    });
    expect(error.message).toContain(message);
    expect([error.code, error.param]).toEqual([code, param]);
    expect(error.request_log_url).toMatch(
      /^https:\/\/dashboard\.stripe\.com\/test\/logs\/req_\w+\?t=1772366400$/,
    );
    expect(server.paymentIntents()).toEqual([]);
  },
);

test.for<Parameters<typeof payment>[0] & object>([
  { amount: 50, currency: "usd" },
  { amount: 50, currency: "jpy" },
  { amount: 50, currency: "krw" },
  { amount: 999_999_999_999, currency: "usd" },
  { amount: 5_000, currency: "isk" },
  { amount: 500, currency: "ugx" },
  { amount: 5_120, currency: "kwd" },
  { amount: 17_501, currency: "huf" },
])("$amount $currency is charged", async (over) => {
  const { stripe } = await startedStripe();

  expect(await stripe.paymentIntents.create(payment(over))).toMatchObject(over);
});

test("50 metadata keys are kept, and characters count as code points", async () => {
  const { stripe } = await startedStripe();

  for (const metadata of [keys(50), { ["😀".repeat(40)]: "😀".repeat(500) }]) {
    expect((await stripe.paymentIntents.create(payment({ metadata }))).metadata).toEqual(metadata);
  }
});

test.for([
  ["usd", 99_999_999],
  ["inr", 999_999_999],
  ["cop", 9_999_999_999],
  ["idr", 999_999_999_999],
] as const)("%s %d is the most for a bank account", async ([currency, amount]) => {
  const { stripe } = await startedStripe();
  const create = (more: number) =>
    stripe.paymentIntents.create(payment({ ...DEBIT, currency, amount: amount + more }));

  expect(await create(0)).toMatchObject({ status: "processing", amount });
  expect((await failureOf(create(1))).code).toBe("amount_too_large");
});

test.for(["//", "/v1/payment_intents/%zz", "/v1/payment_intents/"])(
  "the odd path %s is answered with 404",
  async (path) => {
    const { server } = await startedStripe();
    const headers = { authorization: "Bearer sk_test_local" };

    expect((await fetch(server.url + path, { headers })).status).toBe(404);
  },
);

test("an unknown URL is answered as Stripe does", async () => {
  const { stripe } = await startedStripe();
  const error = await failureOf(stripe.rawRequest("POST", "/v1/payment_intent"));

  expect(error).toMatchObject({ statusCode: 404, rawType: "invalid_request_error" });
  expect(error.message).toContain("Unrecognized request URL (POST: /v1/payment_intent).");
});
