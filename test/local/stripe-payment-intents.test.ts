import { expect, test } from "vitest";

import { clientOf, failureOf, payment, startedStripe } from "./stripe-fixture.ts";

test("a confirmed payment succeeds and keeps what was sent", async () => {
  const { stripe } = await startedStripe();
  const intent = await stripe.paymentIntents.create(
    payment({
      currency: "EUR",
      description: "Order 7",
      statement_descriptor_suffix: "ORDER 7",
      receipt_email: "anna@example.com",
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
    receipt_email: "anna@example.com",
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

test("a payment that is not confirmed takes no money", async () => {
  const { server, stripe } = await startedStripe();
  const open = await stripe.paymentIntents.create({ amount: 1200, currency: "eur" });
  const ready = await stripe.paymentIntents.create({
    amount: 1200,
    currency: "eur",
    payment_method: "pm_card_visa",
  });

  expect(open.status).toBe("requires_payment_method");
  expect(ready.status).toBe("requires_confirmation");
  expect(server.ledger.charges()).toEqual([]);
});

test("automatic payment methods are as they were asked for", async () => {
  const { stripe } = await startedStripe();

  const direct = await stripe.paymentIntents.create(
    payment({ automatic_payment_methods: { enabled: true, allow_redirects: "never" } }),
  );
  const cards = await stripe.paymentIntents.create(
    payment({ automatic_payment_methods: { enabled: false } }),
  );

  expect(direct.automatic_payment_methods).toEqual({ enabled: true, allow_redirects: "never" });
  expect(cards).toMatchObject({ automatic_payment_methods: null, payment_method_types: ["card"] });
});

test.for([
  { return_url: "https://example.com/done" },
  { automatic_payment_methods: { enabled: true, allow_redirects: "never" } },
  { automatic_payment_methods: { enabled: false } },
] as const)(
  "with %o nobody can be redirected to nowhere, and the payment succeeds",
  async (over) => {
    const { stripe } = await startedStripe();
    const onSession = { ...payment(), off_session: false };

    const intent = await stripe.paymentIntents.create({ ...onSession, ...over });

    expect(intent.status).toBe("succeeded");
  },
);

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

test("a customer is created with an id that can be charged", async () => {
  const { stripe } = await startedStripe();
  const customer = await stripe.customers.create({
    email: "anna@example.com",
    metadata: { crm: "9" },
  });

  const intent = await stripe.paymentIntents.create(payment({ customer: customer.id }));

  expect(customer).toMatchObject({
    object: "customer",
    livemode: false,
    created: 1_772_366_400,
    email: "anna@example.com",
    metadata: { crm: "9" },
  });
  expect(intent.customer).toBe(customer.id);
});

type Rejected = { param?: string; code?: string; rows: [over: object, message: string][] };

const EMPTY_AMOUNT =
  "You passed an empty string for 'amount'. We assume empty values are an attempt to unset a parameter; however " +
  "'amount' cannot be unset. You should remove 'amount' from your request or supply a non-empty value.";
const NO_METHOD =
  "You cannot confirm this PaymentIntent because it's missing a payment method. You can either update the " +
  "PaymentIntent with a payment method and then confirm it again, or confirm it again directly with a payment " +
  "method or ConfirmationToken.";
const DASHBOARD_METHODS =
  "This PaymentIntent is configured to accept payment methods enabled in your Dashboard. Because some of these payment " +
  "methods might redirect your customer off of your page, you must provide a `return_url`. If you don't want to accept " +
  "redirect-based payment methods, set `automatic_payment_methods[enabled]` to `true` and " +
  "`automatic_payment_methods[allow_redirects]` to `never` when creating Setup Intents and Payment Intents.";
const LONG_KEY = "a234567890b234567890c234567890d2345678901";

const keys = (count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`key${index}`, "x"]));

const REJECTED: Rejected[] = [
  {
    code: "parameter_missing",
    param: "amount",
    rows: [[{ amount: undefined }, "Missing required param: amount."]],
  },
  {
    code: "parameter_missing",
    param: "currency",
    rows: [[{ currency: undefined }, "Missing required param: currency."]],
  },
  { code: "parameter_invalid_empty", param: "amount", rows: [[{ amount: "" }, EMPTY_AMOUNT]] },
  {
    code: "parameter_invalid_integer",
    param: "amount",
    rows: [
      [{ amount: 7840.000000000001 }, "Invalid integer: 7840.000000000001"],
      [{ amount: 0 }, "This value must be greater than or equal to 1."],
      [{ amount: 1, currency: "bhd" }, "Invalid amount: 1 bhd is not evenly divisible by 10"],
      [{ amount: 99, currency: "jod" }, "Invalid amount: 99 jod is not evenly divisible by 10"],
      [
        { amount: 1_005, currency: "kwd" },
        "Invalid amount: 1005 kwd is not evenly divisible by 10",
      ],
      [{ amount: 101, currency: "omr" }, "Invalid amount: 101 omr is not evenly divisible by 10"],
      [
        { amount: 5_124, currency: "tnd" },
        "Invalid amount: 5124 tnd is not evenly divisible by 10",
      ],
      [
        { amount: 5_050, currency: "isk" },
        "Invalid amount: 5050 isk is not evenly divisible by 100",
      ],
      [{ amount: 550, currency: "ugx" }, "Invalid amount: 550 ugx is not evenly divisible by 100"],
    ],
  },
  {
    code: "amount_too_small",
    param: "amount",
    rows: [
      [{ amount: 49, currency: "usd" }, "Amount must be at least $0.50 usd"],
      [{ amount: 49, currency: "jpy" }, "Amount must be at least ¥50 jpy"],
    ],
  },
  {
    code: "amount_too_large",
    param: "amount",
    rows: [
      [{ amount: 1e12, currency: "usd" }, "Amount must be no more than $9,999,999,999.99"],
      [
        { amount: 1e8, currency: "usd", payment_method: "pm_usBankAccount_success" },
        "Amount must be no more than $999,999.99",
      ],
      [
        { amount: 1e9, payment_method: "pm_card_amex" },
        "Amount must be no more than €9,999,999.99",
      ],
    ],
  },
  {
    code: "resource_missing",
    param: "customer",
    rows: [[{ customer: "cus_missing" }, "No such customer: 'cus_missing'"]],
  },
  {
    code: "resource_missing",
    param: "payment_method",
    rows: [
      [{ payment_method: "pm_missing" }, "No such PaymentMethod: 'pm_missing'"],
      [{ payment_method: "pm_card_declinedd" }, "No such PaymentMethod: 'pm_card_declinedd'"],
    ],
  },
  {
    code: "parameter_unknown",
    param: "amont",
    rows: [[{ amont: 1 }, "Received unknown parameter: amont"]],
  },
  {
    code: "parameter_unknown",
    param: "automatic_payment_methods[redirects]",
    rows: [
      [
        { automatic_payment_methods: { enabled: true, redirects: "never" } },
        "Received unknown parameter: automatic_payment_methods[redirects]",
      ],
    ],
  },
  {
    // Of older API versions.
    code: "parameter_unknown",
    param: "payment_method_types",
    rows: [
      [{ payment_method_types: ["card"] }, "Received unknown parameter: payment_method_types"],
    ],
  },
  { param: "confirm", rows: [[{ confirm: "yes" }, "Invalid boolean: yes"]] },
  {
    param: "off_session",
    rows: [
      [
        { confirm: false },
        "The parameter `off_session` cannot be passed when creating a PaymentIntent unless `confirm` is set to true.",
      ],
    ],
  },
  { code: "payment_intent_unexpected_state", rows: [[{ payment_method: undefined }, NO_METHOD]] },
  { rows: [[{ off_session: undefined }, DASHBOARD_METHODS]] },
  {
    param: "description",
    rows: [
      [{ description: { a: "b" } }, 'Invalid string: {"a":"b"}'],
      [{ description: "😀".repeat(1_001) }, "must be at most 1000 characters"],
    ],
  },
  {
    param: "automatic_payment_methods",
    rows: [[{ automatic_payment_methods: "yes" }, "Invalid object"]],
  },
  {
    param: "metadata",
    rows: [
      [{ metadata: "m-1" }, "Invalid object"],
      [
        { metadata: { [LONG_KEY]: "x" } },
        `Metadata keys can have up to 40 characters, but you passed in a key that is 41 characters. Invalid key: ${LONG_KEY}`,
      ],
      [{ metadata: keys(51) }, "50"],
    ],
  },
  { param: "metadata[a]", rows: [[{ metadata: { a: "x".repeat(501) } }, "500"]] },
  {
    param: "statement_descriptor_suffix",
    rows: [
      [
        { statement_descriptor_suffix: "ABCDEFGHIJKLMNOPQRSTUVW" },
        "Invalid string: ABCDEFGHIJKLMNOPQRSTUVW; must be at most 22 characters",
      ],
    ],
  },
  {
    // It would be a different payment if it were ignored.
    param: "capture_method",
    rows: [
      [
        { capture_method: "manual" },
        "The local Stripe server does not emulate 'capture_method': leave it out of the request.",
      ],
    ],
  },
  {
    param: "currency",
    rows: [
      [
        { currency: "euro" },
        "Invalid currency: euro. Stripe currently supports these currencies: usd, aed, ",
      ],
    ],
  },
];

test.for(
  REJECTED.flatMap(({ rows, ...names }) =>
    rows.map(([over, message]) => [message, over, names] as const),
  ),
)(
  'a create is rejected with "%s", and nothing is made',
  async ([message, over, { code, param }]) => {
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
    stripe.paymentIntents.create(
      payment({ currency, amount: amount + more, payment_method: "pm_usBankAccount_success" }),
    );

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
