import { expect, test } from "vitest";

import {
  readApiEnvironment,
  readEnvironment,
  readFinalizerEnvironment,
  readFulfillmentEnvironment,
  readPublisherEnvironment,
  readReconciliationEnvironment,
  readWebhookEnvironment,
} from "../../../lib/lambda/environment.ts";
import { readCredentials, readDynamoDbEndpoint } from "../../../lib/lambda/variables.ts";
import type { Variables } from "../../../lib/lambda/variables.ts";
import { DEFAULT_TIMINGS, DEFAULT_WORKER_TIMINGS } from "../../../lib/timing/payments.ts";
import { timingVariables } from "../../../lib/timing/variables.ts";
import { WORKER_TIMINGS } from "../../support/timings.ts";

const REQUIRED = {
  RECORDS_TABLE: "records",
  QUEUE_URL: "https://sqs.eu-central-1.amazonaws.com/123456789012/payments",
  STRIPE_SECRET_ARN: "arn:aws:secretsmanager:eu-central-1:123456789012:secret:stripe-AbCdEf",
};
const DEPLOYED = {
  ...REQUIRED,
  AWS_LAMBDA_FUNCTION_NAME: "shop-payment-worker",
  AWS_LAMBDA_FUNCTION_MEMORY_SIZE: "1769",
  BATCH_SIZE: "7",
  ...timingVariables(WORKER_TIMINGS),
};

const SQS = "https://sqs.eu-central-1.amazonaws.com/123456789012";
const WORKER = {
  recordsTable: "records",
  queueUrl: `${SQS}/payments`,
  stripeKey: {
    secretArn: "arn:aws:secretsmanager:eu-central-1:123456789012:secret:stripe-AbCdEf",
  },
  stripeBase: new URL("https://api.stripe.com/"),
  memoryMb: 1_769,
  batchSize: 7,
  timings: WORKER_TIMINGS,
};
const { queueUrl, batchSize: _batch, memoryMb: _memory, ...RECONCILIATION } = WORKER;
const { recordsTable, timings } = WORKER;
const WEBHOOK = { queueUrl: `${SQS}/events`, callTimeoutMs: 3_000 };
const EVENTS = { STRIPE_EVENTS_QUEUE_URL: `${SQS}/events` };

test.each<[name: string, (variables: Variables) => object, Variables, object]>([
  ["payment-worker", readEnvironment, {}, WORKER],
  [
    "outcome-publisher",
    readPublisherEnvironment,
    { EVENT_BUS_NAME: "events", STAGE: "prod" },
    { eventBusName: "events", source: "urn:payment-worker:prod", callTimeoutMs: 3_000 },
  ],
  [
    "stripe-webhook",
    readWebhookEnvironment,
    { ...EVENTS, STRIPE_WEBHOOK_SECRET_ARN: "arn:secret", STRIPE_MODE: "live" },
    { ...WEBHOOK, webhookSecret: { secretArn: "arn:secret" }, stripeMode: "live" },
  ],
  [
    "stripe-webhook",
    readWebhookEnvironment,
    { ...EVENTS, STRIPE_WEBHOOK_SECRET: "whsec_local" },
    { ...WEBHOOK, webhookSecret: { value: "whsec_local" } },
  ],
  [
    "payment-finalizer",
    readFinalizerEnvironment,
    { EVENT_BUS_NAME: "events", STAGE: "dev" },
    { ...WORKER, eventBusName: "events", source: "urn:payment-worker:dev" },
  ],
  [
    "payment-finalizer",
    readFinalizerEnvironment,
    { EVENT_BUS_NAME: "" },
    { ...WORKER, source: "urn:payment-worker:local" },
  ],
  ["payment-api", readApiEnvironment, {}, { recordsTable, queueUrl, timings }],
  [
    "order-fulfillment",
    readFulfillmentEnvironment,
    { ORDERS_TABLE: "orders" },
    { ordersTable: "orders", queueUrl, timings },
  ],
  [
    "reconciliation",
    readReconciliationEnvironment,
    { STRIPE_MODE: "test", REPORT_BUCKET: "reports" },
    { ...RECONCILIATION, stripeMode: "test", reportBucket: "reports" },
  ],
])("what the stack deploys is enough for %s to start", (name, read, variables, expected) => {
  const { AWS_LAMBDA_FUNCTION_NAME: functionName, ...local } = { ...DEPLOYED, ...variables };

  expect(read({ ...local, AWS_LAMBDA_FUNCTION_NAME: functionName })).toStrictEqual({
    ...expected,
    functionName: "shop-payment-worker",
  });
  expect(read(local)).toMatchObject({ functionName: name });
});

test.each<[(variables: Variables) => object, Variables, string]>([
  [readPublisherEnvironment, {}, "EVENT_BUS_NAME is not set"],
  [readWebhookEnvironment, {}, "STRIPE_EVENTS_QUEUE_URL is not set"],
  [readWebhookEnvironment, EVENTS, "STRIPE_WEBHOOK_SECRET_ARN is not set"],
  [
    readWebhookEnvironment,
    { ...EVENTS, STRIPE_WEBHOOK_SECRET_ARN: "arn:secret", STRIPE_WEBHOOK_SECRET: "whsec_local" },
    "STRIPE_WEBHOOK_SECRET_ARN and STRIPE_WEBHOOK_SECRET are both set: keep only one of them.",
  ],
  [readFulfillmentEnvironment, {}, "ORDERS_TABLE is not set"],
  [readReconciliationEnvironment, {}, "REPORT_BUCKET is not set"],
])("a function that lacks a variable of its own does not start", (read, variables, sentence) => {
  expect(() => read({ ...DEPLOYED, ...variables })).toThrow(sentence);
});

test("without its variables the worker runs on the defaults", () => {
  const { batchSize, memoryMb, timings } = readEnvironment(REQUIRED);

  expect(memoryMb).toBe(512);
  expect(batchSize).toBe(DEFAULT_TIMINGS.batchSize);
  expect(timings).toEqual(DEFAULT_WORKER_TIMINGS);
});

test.each([
  ["0.125", 125],
  ["123456789", 123_456_789_000],
])("%s seconds are read to the millisecond", (variable, recordTtlMs) => {
  const timings = { MAX_MESSAGE_AGE_SECONDS: "0", MAX_SENDER_AHEAD_SECONDS: "0" };
  const none = { ...DEPLOYED, ...timings, CLOCK_SKEW_SECONDS: "0" };

  expect(readEnvironment({ ...none, RECORD_TTL_SECONDS: variable }).timings).toMatchObject({
    recordTtlMs,
  });
});

test("a variable that is set to nothing is not set", () => {
  const { timings, stripeBase, stripeMode, batchSize } = readEnvironment({
    ...REQUIRED,
    STRIPE_TIMEOUT_SECONDS: "",
    STRIPE_API_BASE: "",
    STRIPE_API_KEY: "",
    STRIPE_MODE: "",
    BATCH_SIZE: "",
  });

  expect(timings.stripeTimeoutMs).toBe(DEFAULT_WORKER_TIMINGS.stripeTimeoutMs);
  expect(stripeBase.href).toBe("https://api.stripe.com/");
  expect(stripeMode).toBeUndefined();
  expect(batchSize).toBe(DEFAULT_TIMINGS.batchSize);
});

test("a local run names its key and its Stripe", () => {
  const { RECORDS_TABLE, QUEUE_URL } = DEPLOYED;

  const { stripeKey, stripeBase } = readEnvironment({
    RECORDS_TABLE,
    QUEUE_URL,
    STRIPE_API_KEY: "sk_test_local",
    STRIPE_API_BASE: "http://127.0.0.1:4010",
  });

  expect(stripeKey).toEqual({ key: "sk_test_local" });
  expect(stripeBase.href).toBe("http://127.0.0.1:4010/");
});

test.each([
  ["1", 1],
  ["400", 400],
])("a batch of %s", (variable, batchSize) => {
  expect(readEnvironment({ ...DEPLOYED, BATCH_SIZE: variable }).batchSize).toBe(batchSize);
});

test.each<[Variables, string]>([
  [{ RECORDS_TABLE: undefined }, "RECORDS_TABLE is not set: the function cannot start without it."],
  ...["payments", "file:///queue", "xhttp://queue", "https2://queue"].map(
    (url): [Variables, string] => [{ QUEUE_URL: url }, "QUEUE_URL must be an http or https URL."],
  ),
  [{ STRIPE_API_BASE: "127.0.0.1" }, "STRIPE_API_BASE must be an http or https URL."],
  [{ STRIPE_MODE: "production" }, "STRIPE_MODE must be live or test, the mode of the Stripe key."],
  [
    { BACKOFF_CAP_SECONDS: "43200" },
    "The worker's timings break a rule. backoff-order: the backoff must start at 1 s or more (30 s), not above its cap (43200 s), and the cap must be at most 42000 s, because SQS counts its 12 h from the receive; change BACKOFF_BASE_SECONDS or BACKOFF_CAP_SECONDS.",
  ],
  ...["x25", "25x", "x400", "1e2", " 25", "25 ", "0", "401", "4000"].map(
    (size): [Variables, string] => [
      { BATCH_SIZE: size },
      "BATCH_SIZE must be a number from 1 to 400, as in the event source.",
    ],
  ),
  ...(
    [
      ["STRIPE_TIMEOUT_SECONDS", "20s"],
      ["STRIPE_TIMEOUT_SECONDS", "0.0005"],
      ["RECORD_TTL_SECONDS", "1234567890"],
      ["KEY_WINDOW_SECONDS", "-1"],
    ] as const
  ).map(([name, value]): [Variables, string] => [
    { [name]: value },
    `${name} must be a number of seconds, such as 30 or 0.5.`,
  ]),
  [
    { STRIPE_SECRET_ARN: undefined },
    "STRIPE_SECRET_ARN is not set: it names the secret with the Stripe key (STRIPE_API_KEY holds the key itself, for local runs only).",
  ],
  [
    { STRIPE_API_KEY: "sk_test_x" },
    // Nor does it quote the key.
    "STRIPE_SECRET_ARN and STRIPE_API_KEY are both set: keep only one of them.",
  ],
  [
    { KEY_WINDOW_SECONDS: "86400" },
    "The worker's timings break a rule. key-window: the key window (24 h) plus how far ahead a sender's time may be (300 s), the clock skew and one Stripe call must end within the 24 h that Stripe keeps an idempotency key; shorten KEY_WINDOW_SECONDS or MAX_SENDER_AHEAD_SECONDS.",
  ],
  [
    { RECORD_TTL_SECONDS: "2592000" },
    "The worker's timings break a rule. record-ttl-covers-age: the record TTL (30 d) must be at least the greatest accepted message age (30 d) plus how far ahead a sender's time may be (300 s) plus the clock skew; raise RECORD_TTL_SECONDS or lower MAX_MESSAGE_AGE_SECONDS.",
  ],
])("a bad variable fails the start with a sentence that names it: %j", (changes, sentence) => {
  expect(() => readEnvironment({ ...DEPLOYED, ...changes })).toThrow(new Error(sentence));
});

test("credentials are those of the function's role, with a session token where there is one", () => {
  const keys = { AWS_ACCESS_KEY_ID: "AKID", AWS_SECRET_ACCESS_KEY: "secret" };
  const credentials = { accessKeyId: "AKID", secretAccessKey: "secret" };

  expect(readCredentials(keys)).toEqual(credentials);
  expect(readCredentials({ ...keys, AWS_SESSION_TOKEN: "" })).toEqual(credentials);
  expect(readCredentials({ ...keys, AWS_SESSION_TOKEN: "token" })).toEqual({
    ...credentials,
    sessionToken: "token",
  });
});

test.each(["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"])(
  "without %s the function does not start",
  (variable) => {
    const keys = { AWS_ACCESS_KEY_ID: "AKID", AWS_SECRET_ACCESS_KEY: "secret", [variable]: "" };

    expect(() => readCredentials(keys)).toThrow(
      "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY are not set: Lambda sets them from the function's role; a local run takes any value.",
    );
  },
);

test("DynamoDB's own endpoint counts for more than the one of all services", () => {
  const both = { AWS_ENDPOINT_URL: "http://all", AWS_ENDPOINT_URL_DYNAMODB: "http://table" };

  expect(readDynamoDbEndpoint({})).toBeUndefined();
  expect(readDynamoDbEndpoint({ ...both, AWS_ENDPOINT_URL_DYNAMODB: "" })).toBe("http://all");
  expect(readDynamoDbEndpoint(both)).toBe("http://table");
});
