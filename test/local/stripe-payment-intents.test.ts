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

const dashboardMethods =
  "This PaymentIntent is configured to accept payment methods enabled in your Dashboard. Because some of these payment " +
  "methods might redirect your customer off of your page, you must provide a `return_url`. If you don't want to accept " +
  "redirect-based payment methods, set `automatic_payment_methods[enabled]` to `true` and " +
  "`automatic_payment_methods[allow_redirects]` to `never` when creating Setup Intents and Payment Intents.";

type Rejection = { code?: string | undefined; param?: string | undefined; message: string };

const rejections: [string, Record<string, unknown>, Rejection][] = [
  [
    "no amount",
    { amount: undefined },
    { code: "parameter_missing", param: "amount", message: "Missing required param: amount." },
  ],
  [
    "no currency",
    { currency: undefined },
    { code: "parameter_missing", param: "currency", message: "Missing required param: currency." },
  ],
  [
    "an empty amount",
    { amount: "" },
    {
      code: "parameter_invalid_empty",
      param: "amount",
      message:
        "You passed an empty string for 'amount'. We assume empty values are an attempt to unset a parameter; however " +
        "'amount' cannot be unset. You should remove 'amount' from your request or supply a non-empty value.",
    },
  ],
  [
    "an amount with a fraction",
    { amount: 7840.000000000001 },
    {
      code: "parameter_invalid_integer",
      param: "amount",
      message: "Invalid integer: 7840.000000000001",
    },
  ],
  [
    "an amount of zero",
    { amount: 0 },
    {
      code: "parameter_invalid_integer",
      param: "amount",
      message: "This value must be greater than or equal to 1.",
    },
  ],
  [
    "49 cents",
    { amount: 49, currency: "usd" },
    {
      code: "amount_too_small",
      param: "amount",
      message: "Amount must be at least $0.50 usd",
    },
  ],
  [
    "49 yen",
    { amount: 49, currency: "jpy" },
    { code: "amount_too_small", param: "amount", message: "Amount must be at least ¥50 jpy" },
  ],
  [
    "ten billion dollars",
    { amount: 1_000_000_000_000, currency: "usd" },
    {
      code: "amount_too_large",
      param: "amount",
      message: "Amount must be no more than $9,999,999,999.99",
    },
  ],
  [
    "a million dollars of a bank account",
    { amount: 100_000_000, currency: "usd", payment_method: "pm_usBankAccount_success" },
    {
      code: "amount_too_large",
      param: "amount",
      message: "Amount must be no more than $999,999.99",
    },
  ],
  [
    "ten million euros with American Express",
    { amount: 1_000_000_000, currency: "eur", payment_method: "pm_card_amex" },
    {
      code: "amount_too_large",
      param: "amount",
      message: "Amount must be no more than €9,999,999.99",
    },
  ],
  ...(
    [
      ["kwd", 1_005, 10],
      ["bhd", 1, 10],
      ["jod", 99, 10],
      ["omr", 101, 10],
      ["tnd", 5_124, 10],
      ["isk", 5_050, 100],
      ["ugx", 550, 100],
    ] as const
  ).map(([currency, amount, step]): [string, Record<string, unknown>, Rejection] => [
    `${amount} ${currency}`,
    { amount, currency },
    {
      code: "parameter_invalid_integer",
      param: "amount",
      message: `Invalid amount: ${amount} ${currency} is not evenly divisible by ${step}`,
    },
  ]),
  [
    "a customer that is missing",
    { customer: "cus_missing" },
    { code: "resource_missing", param: "customer", message: "No such customer: 'cus_missing'" },
  ],
  [
    "a payment method that is missing",
    { payment_method: "pm_missing" },
    {
      code: "resource_missing",
      param: "payment_method",
      message: "No such PaymentMethod: 'pm_missing'",
    },
  ],
  [
    "a test card that Stripe does not have",
    { payment_method: "pm_card_chargeDeclinedd" },
    {
      code: "resource_missing",
      param: "payment_method",
      message: "No such PaymentMethod: 'pm_card_chargeDeclinedd'",
    },
  ],
  [
    "an unknown parameter",
    { amont: 1 },
    { code: "parameter_unknown", param: "amont", message: "Received unknown parameter: amont" },
  ],
  [
    "an unknown parameter inside another",
    { automatic_payment_methods: { enabled: true, redirects: "never" } },
    {
      code: "parameter_unknown",
      param: "automatic_payment_methods[redirects]",
      message: "Received unknown parameter: automatic_payment_methods[redirects]",
    },
  ],
  [
    "a confirm that is not a boolean",
    { confirm: "yes" },
    { param: "confirm", message: "Invalid boolean: yes" },
  ],
  [
    "off_session without confirm",
    { confirm: false },
    {
      param: "off_session",
      message:
        "The parameter `off_session` cannot be passed when creating a PaymentIntent unless `confirm` is set to true.",
    },
  ],
  [
    "confirm without a payment method",
    { payment_method: undefined },
    {
      code: "payment_intent_unexpected_state",
      message:
        "You cannot confirm this PaymentIntent because it's missing a payment method. You can either update the " +
        "PaymentIntent with a payment method and then confirm it again, or confirm it again directly with a payment " +
        "method or ConfirmationToken.",
    },
  ],
  [
    "a customer who could be redirected to nowhere",
    { off_session: undefined },
    { message: dashboardMethods },
  ],
  [
    "a parameter of older API versions",
    { payment_method_types: ["card"] },
    {
      code: "parameter_unknown",
      param: "payment_method_types",
      message: "Received unknown parameter: payment_method_types",
    },
  ],
  [
    "text that is a hash",
    { description: { a: "b" } },
    { param: "description", message: 'Invalid string: {"a":"b"}' },
  ],
  [
    "a hash that is text",
    { automatic_payment_methods: "yes" },
    { param: "automatic_payment_methods", message: "Invalid object" },
  ],
  ["metadata as text", { metadata: "m-1" }, { param: "metadata", message: "Invalid object" }],
  [
    "a metadata key of 41 characters",
    { metadata: { a234567890b234567890c234567890d2345678901: "x" } },
    {
      param: "metadata",
      message:
        "Metadata keys can have up to 40 characters, but you passed in a key that is 41 characters. Invalid key: " +
        "a234567890b234567890c234567890d2345678901",
    },
  ],
  [
    "a statement descriptor suffix of 23 characters",
    { statement_descriptor_suffix: "ABCDEFGHIJKLMNOPQRSTUVW" },
    {
      param: "statement_descriptor_suffix",
      message: "Invalid string: ABCDEFGHIJKLMNOPQRSTUVW; must be at most 22 characters",
    },
  ],
  [
    "a parameter that would be a different payment if it were ignored",
    { capture_method: "manual" },
    {
      param: "capture_method",
      message:
        "The local Stripe server does not emulate 'capture_method': leave it out of the request.",
    },
  ],
];

test.for(rejections)(
  "%s is rejected in Stripe's words, and nothing is made",
  async ([, over, rejection]) => {
    const { server, stripe } = await startedStripe();
    const call = stripe.paymentIntents.create(payment(over));

    const error = await failureOf(call);

    expect(error).toMatchObject({
      type: "StripeInvalidRequestError",
      rawType: "invalid_request_error",
      statusCode: 400,
      ...rejection,
    });
    expect(error.code).toBe(rejection.code);
    expect(error.param).toBe(rejection.param);
    expect(error.requestId).toMatch(/^req_/);
    expect(error.request_log_url).toBe(
      `https://dashboard.stripe.com/test/logs/${error.requestId}?t=1772366400`,
    );
    expect(server.paymentIntents()).toEqual([]);
  },
);

test.for([
  ["usd", 50],
  ["jpy", 50],
  ["idr", 50],
  ["krw", 50],
  ["usd", 999_999_999_999],
  ["isk", 5_000],
  ["ugx", 500],
  ["kwd", 5_120],
  ["huf", 17_501],
] as const)("%s %d is charged", async ([currency, amount]) => {
  const { stripe } = await startedStripe();
  const intent = await stripe.paymentIntents.create(payment({ currency, amount }));

  expect(intent.amount).toBe(amount);
});

test("50 metadata keys are taken and 51 are rejected", async () => {
  const { stripe } = await startedStripe();
  const keys = (count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, index) => [`key${index}`, "x"]));

  const intent = await stripe.paymentIntents.create(payment({ metadata: keys(50) }));
  const error = await failureOf(stripe.paymentIntents.create(payment({ metadata: keys(51) })));

  expect(Object.keys(intent.metadata)).toHaveLength(50);
  expect(error).toMatchObject({ statusCode: 400, param: "metadata" });
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

test("characters are counted as code points, whatever UTF-16 makes of them", async () => {
  const { stripe } = await startedStripe();
  const create = (more: number) =>
    stripe.paymentIntents.create(
      payment({
        description: "😀".repeat(1_000 + more),
        metadata: { ["😀".repeat(40)]: "😀".repeat(500) },
      }),
    );

  expect(await create(0)).toMatchObject({ status: "succeeded" });
  expect((await failureOf(create(1))).param).toBe("description");
});

test("a metadata value of 500 characters is taken and one of 501 is rejected", async () => {
  const { stripe } = await startedStripe();

  const intent = await stripe.paymentIntents.create(payment({ metadata: { a: "x".repeat(500) } }));
  const error = await failureOf(
    stripe.paymentIntents.create(payment({ metadata: { a: "x".repeat(501) } })),
  );

  expect(intent.metadata["a"]).toHaveLength(500);
  expect(error).toMatchObject({ statusCode: 400, param: "metadata[a]" });
});

test("an unknown currency is rejected with the list of those that Stripe takes", async () => {
  const { stripe } = await startedStripe();
  const error = await failureOf(stripe.paymentIntents.create(payment({ currency: "euro" })));

  expect(error.param).toBe("currency");
  expect(error.doc_url).toBeUndefined();
  expect(error.message).toMatch(
    /^Invalid currency: euro\. Stripe currently supports these currencies: usd, aed, /,
  );
});

test.for(["//", "/v1/payment_intents/%zz", "/v1/payment_intents/"])(
  "the odd path %s is answered with 404",
  async (path) => {
    const { server } = await startedStripe();

    const response = await fetch(server.url + path, {
      headers: { authorization: "Bearer sk_test_local" },
    });

    expect(response.status).toBe(404);
  },
);

test("an unknown URL is answered as Stripe does", async () => {
  const { stripe } = await startedStripe();
  const error = await failureOf(stripe.rawRequest("POST", "/v1/payment_intent"));

  expect(error).toMatchObject({ statusCode: 404, rawType: "invalid_request_error" });
  expect(error.message).toContain("Unrecognized request URL (POST: /v1/payment_intent).");
});
