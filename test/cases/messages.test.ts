// Failures that people met with what was in the message.

import { expect, test } from "vitest";

import { babelQueue, cloudEvent, eventBridge, sns } from "../support/envelopes.ts";
import { payment, startWorker } from "../support/worker.ts";

const wrapped: [string, unknown, unknown][] = [
  ["SNS", sns(payment(), "sns-1"), sns(payment(), "sns-2")],
  ["EventBridge", eventBridge(payment(), "eb-1"), eventBridge(payment(), "eb-2")],
  ["CloudEvents", cloudEvent("order-1001"), cloudEvent("order-1001")],
  ["BabelQueue", babelQueue("order-1001"), babelQueue("order-1001")],
  [
    "CloudEvents in EventBridge in SNS",
    sns(eventBridge(cloudEvent("order-1001"), "eb-1"), "sns-1"),
    sns(eventBridge(cloudEvent("order-1001"), "eb-2"), "sns-2"),
  ],
];

test.each(wrapped)(
  "%s: a producer's retry under another broker id charges once",
  async (_, a, b) => {
    const worker = await startWorker();

    const first = await worker.deliver(a);
    const retry = await worker.deliver(b);

    expect(first.lines[0]).toMatchObject({ decision: "completed", messageId: "order-1001" });
    expect(retry.lines[0]).toMatchObject({ decision: "duplicate", messageId: "order-1001" });
    expect(worker.stripe.ledger.charges()).toMatchObject([{ idempotencyKey: "order-1001" }]);
  },
);

test.each([
  ["SNS", sns(payment({ id: undefined }), "sns-1"), "Message.id"],
  ["EventBridge", eventBridge(payment({ id: undefined }), "eb-1"), "detail.id"],
  ["CloudEvents", cloudEvent(undefined), "id"],
  ["BabelQueue", babelQueue(undefined), "meta.id"],
  ["plain JSON", payment({ id: undefined }), "id"],
])(
  "%s without the sender's id is invalid, never keyed by something else",
  async (_, body, field) => {
    const worker = await startWorker();

    const invalid = await worker.deliver(body);

    expect(invalid.failed).toHaveLength(1);
    expect(invalid.lines[0]).toMatchObject({ decision: "invalid", field, rule: "message_id" });
    expect(worker.stripe.ledger.totals()).toMatchObject({ requests: 0 });
    expect(worker.table.counts()).toEqual({});
  },
);

test("¥80 is charged as 80", async () => {
  const worker = await startWorker();

  await worker.deliver(payment({ amount: 80, currency: "JPY" }));

  expect(worker.stripe.ledger.charges()).toMatchObject([{ amount: 80, currency: "jpy" }]);
});

const AMOUNT =
  "amount must be an integer in Stripe's smallest unit of the currency, from 1 to 999999999999, written in plain digits.";
const ID = "id must be the sender's own id: 1 to 255 printable ASCII characters without spaces.";
const amounts = [
  "78.4",
  "7840.000000000001",
  "9007199254740993",
  "1000000000000",
  "1e3",
  "0",
  "-5",
];

test.each([
  ...[...amounts, "100.00000000000000001", '"1200"', "null"].map((amount) => [
    `the amount ${amount}`,
    JSON.stringify(payment()).replace("1200", amount),
    AMOUNT,
  ]),
  ...["order-😀", "order 1", "naïve", "", "x".repeat(256), 12, null].map((id) => [
    `the id ${JSON.stringify(id)}`,
    // Escaped, as many producers send it.
    JSON.stringify(payment({ id })).replaceAll(
      /[^\x20-\x7e]/g,
      (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`,
    ),
    ID,
  ]),
])("%s is invalid at once with the rule, and nothing is charged", async (_, body, rule) => {
  const worker = await startWorker();

  const invalid = await worker.deliver(body);

  expect(invalid.failed).toHaveLength(1);
  expect(invalid.lines[0]).toMatchObject({ decision: "invalid", message: `invalid: ${rule}` });
  expect(worker.stripe.ledger.totals()).toMatchObject({ requests: 0 });
  expect(await worker.queue.depth(worker.queueUrl)).toMatchObject({ visible: 1, inFlight: 0 });
});

test("of two amounts in one message neither is charged", async () => {
  const worker = await startWorker();
  const body = JSON.stringify(payment()).replace('"amount":1200', '"amount":500,"amount":700');

  const invalid = await worker.deliver(body);

  expect(invalid.lines[0]).toMatchObject({ decision: "invalid", rule: "body_json" });
  expect(worker.stripe.ledger.totals()).toMatchObject({ requests: 0 });
});

test("an invalid message shows no value of its own of the message in the log", async () => {
  const worker = await startWorker();

  const invalid = await worker.deliver(
    payment({
      description: "4242 4242 4242 4242",
      metadata: { "4000056655665556": "x", cvc: "999" },
    }),
  );

  // A random id may hold the digits 999 by chance.
  const log = JSON.stringify({ ...invalid.lines[0], sqsMessageId: "", requestId: "" });
  expect(invalid.lines).toHaveLength(1);
  expect(invalid.lines[0]).toMatchObject({ decision: "invalid", rule: "card_number" });
  expect(log).not.toMatch(/4242|4000056655665556|999|cus_ada|pm_card_visa/);
});

const MARKS = `a${"\u0300\u0316".repeat(100_000)}`;
const many = (length: number) =>
  Object.fromEntries(Array.from({ length }, (_, i) => [`k${i}`, "v"]));

test.each<[what: string, body: unknown, field: string, rule: string]>([
  ["combining marks", payment({ description: MARKS }), "description", "description"],
  [
    "combining marks in SNS",
    sns(payment({ description: MARKS }), "s"),
    "Message.description",
    "description",
  ],
  ["combining marks in a key", payment({ metadata: { [MARKS]: "x" } }), "metadata", "metadata"],
  [
    "combining marks that nobody reads",
    { ...cloudEvent("order 1"), extension: MARKS },
    "id",
    "message_id",
  ],
  ["keys", payment({ metadata: many(80_000) }), "body", "body_length"],
  ["fewer keys", payment({ metadata: many(10_000) }), "body", "values"],
])(
  "beside a message full of %s, the others of its batch are charged at once",
  async (_what, body, field, rule) => {
    const worker = await startWorker();

    const { lines, failed } = await worker.deliver(
      payment({ id: "a" }),
      body,
      payment({ id: "b" }),
    );

    expect(failed).toHaveLength(1);
    expect(lines).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ messageId: "a", decision: "completed" }),
        expect.objectContaining({ messageId: "b", decision: "completed" }),
        expect.objectContaining({ decision: "invalid", field, rule }),
      ]),
    );
    expect(worker.stripe.ledger.charges()).toHaveLength(2);
  },
);
