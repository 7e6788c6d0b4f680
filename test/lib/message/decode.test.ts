// Every rule of the message, with a value that keeps it and one that breaks it.

import { expect, test } from "vitest";

import { decodeMessage } from "../../../lib/message/decode.ts";
import { explainViolation } from "../../../lib/message/invalid.ts";
import { RULES } from "../../../lib/message/rules.ts";
import type { Rule } from "../../../lib/message/rules.ts";
import { WORKER_TIMINGS } from "../../support/timings.ts";

const NOW = Date.parse("2026-11-29T12:00:00Z");

const PAYMENT = { amount: 1200, currency: "eur", customer: "cus_ada", paymentMethod: "pm_visa" };
const PLAIN = { id: "order-1001", createdAt: "2026-11-29T11:59:00Z", ...PAYMENT };

const decode = (body: unknown, schemaVersion?: string) => {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  return decodeMessage(text, NOW, WORKER_TIMINGS, schemaVersion);
};

test("a plain message is decoded into its id and its payment", () => {
  const optional = {
    description: "Two tickets",
    statementDescriptorSuffix: "TICKETS",
    metadata: { seat: "12A" },
  };

  expect(decode({ ...PLAIN, currency: "EUR", ...optional })).toEqual({
    kind: "message",
    message: {
      id: "order-1001",
      sentAt: 1_795_953_540_000,
      payment: { ...PAYMENT, ...optional },
    },
  });
});

/** So many levels of arrays, or of what `wrap` makes. */
function nested(levels: number, wrap: (inner: unknown) => unknown = (inner) => [inner]): unknown {
  return Array.from({ length: levels - 1 }).reduce(wrap, []);
}

const many = (length: number, value = "v") =>
  Object.fromEntries(Array.from({ length }, (_, i) => [`key-${i}`, value]));
/** A card number below names of 60 characters and one of so many. */
const buried = (length: number) =>
  ["d".repeat(length), "c".repeat(60), "b".repeat(60), "a".repeat(60)].reduce<unknown>(
    (inner, name) => ({ [name]: inner }),
    "4242424242424242",
  ) as object;
const BURIED = `${"a".repeat(60)}.${"b".repeat(60)}.${"c".repeat(60)}.${"d".repeat(17)}`;

const kept: [what: string, change: object][] = [
  ["the least amount", { amount: 1 }],
  ["the greatest amount", { amount: 999_999_999_999 }],
  ["a price in rupiah", { amount: 100_000_000, currency: "idr" }],
  ["a price in pesos", { amount: 450_000_000, currency: "cop" }],
  ["a price in yen", { amount: 150_000_000, currency: "jpy" }],
  ["a price in krónur, which have two decimals at Stripe", { amount: 5_000, currency: "isk" }],
  ["a price in shillings, which have two decimals at Stripe", { amount: 500, currency: "ugx" }],
  ["a price in dinars, of which the third decimal is 0", { amount: 5_120, currency: "kwd" }],
  ["a price in forints, which have two decimals at Stripe", { amount: 17_501, currency: "huf" }],
  ["a customer's id of one's own", { customer: "user-42" }],
  ["a customer's id that is an address", { customer: "ada+1@example.com" }],
  ["the longest customer's id", { customer: "c".repeat(255) }],
  ["a Card", { paymentMethod: "card_1abc" }],
  ["a Source", { paymentMethod: "src_1abc" }],
  ["a BankAccount", { paymentMethod: "ba_1abc" }],
  ["a currency in capitals", { currency: "JPY" }],
  ["the longest id", { id: "x".repeat(255) }],
  ["an id of every kind of printable character", { id: "!a~Z0/:.#" }],
  ["a time with an offset", { createdAt: "2026-11-29T13:59:00+02:00" }],
  ["a time in lower case", { createdAt: "2026-11-29t11:59:00.123456789z" }],
  ["the oldest time", { createdAt: "2026-10-30T12:00:00Z" }],
  ["a time five minutes ahead", { createdAt: "2026-11-29T12:05:00Z" }],
  ["a description of a quote and commas", { description: `"${",".repeat(999)}` }],
  ["the longest description", { description: "x".repeat(1_000) }],
  ["a description in another script", { description: "二枚 😀\n" }],
  ["the longest description of two UTF-16 units each", { description: "😀".repeat(1_000) }],
  ["a time in ms as metadata", { metadata: { ts: "1764514041151" } }],
  ["an ObjectId with a card's digits", { id: "a4242424242424242bcdef01" }],
  ["the longest suffix", { statementDescriptorSuffix: "A".repeat(22) }],
  ["a suffix that ends in its letter", { statementDescriptorSuffix: "2026 A" }],
  ["the most metadata", { metadata: many(49) }],
  ["the longest metadata", { metadata: { ["k".repeat(40)]: "v".repeat(500) } }],
  ["the longest metadata in emoji", { metadata: { ["😀".repeat(40)]: "😀".repeat(500) } }],
  ["metadata with names that JavaScript knows", { metadata: { constructor: "a", toString: "b" } }],
];

test.each(kept)("%s is accepted", (_what, change) => {
  expect(decode({ ...PLAIN, ...change })).toMatchObject({ kind: "message" });
});

const broken: [field: string, rule: Rule, change: object][] = [
  ["id", "message_id", { id: undefined }],
  ["id", "message_id", { id: "x".repeat(256) }],
  ["id", "message_id", { id: "order\u007f" }],
  ["id", "message_id", { id: " order" }],
  ["id", "message_id", { id: 1001 }],
  ["createdAt", "sender_time", { createdAt: undefined }],
  ["createdAt", "sender_time", { createdAt: "2026-02-30T00:00:00Z" }],
  ["createdAt", "sender_time", { createdAt: "2026-11-29T24:00:00Z" }],
  ["createdAt", "sender_time", { createdAt: "2026-11-29T11:59:60Z" }],
  ["createdAt", "sender_time", { createdAt: "2026-11-29T11:59:00" }],
  ["createdAt", "sender_time", { createdAt: "2026-11-29" }],
  ["createdAt", "sender_time", { createdAt: 1_795_953_540_000 }],
  // What Date.parse reads and RFC 3339 does not know.
  ["createdAt", "sender_time", { createdAt: "+002026-11-29T11:59:00Z" }],
  ["createdAt", "sender_time", { createdAt: "2026-11-29T11:59:00Z\u0000" }],
  ["createdAt", "sender_time", { createdAt: ["2026-11-29T11:59:00Z"] }],
  ["createdAt", "message_too_old", { createdAt: "2026-10-30T11:59:59Z" }],
  ["createdAt", "sender_time_ahead", { createdAt: "2026-11-29T12:05:01Z" }],
  ["amount", "required", { amount: undefined }],
  ["amount", "amount", { amount: 1_000_000_000_000 }],
  ["amount", "amount_unit", { amount: 1_005, currency: "kwd" }],
  ["amount", "amount_unit", { amount: 1, currency: "BHD" }],
  ["amount", "amount_unit", { amount: 99, currency: "jod" }],
  ["amount", "amount_unit", { amount: 101, currency: "omr" }],
  ["amount", "amount_unit", { amount: 5_124, currency: "tnd" }],
  ["amount", "amount_unit", { amount: 550, currency: "ugx" }],
  ["amount", "amount_unit", { amount: 10, currency: "isk" }],
  ["amount", "amount", { amount: 0 }],
  ["amount", "amount", { amount: 0.5 }],
  ["amount", "amount", { amount: true }],
  ["currency", "currency", { currency: "euro" }],
  ["currency", "currency", { currency: "abc" }],
  ["currency", "currency", { currency: ["eur"] }],
  ["currency", "currency", { currency: "ﬀx" }],
  ["customer", "customer", { customer: "" }],
  ["customer", "customer", { customer: ".." }],
  ["customer", "customer", { customer: "-ada" }],
  ["customer", "customer", { customer: "cus_a/../x" }],
  ["customer", "customer", { customer: "ada\n" }],
  ["customer", "customer", { customer: "a%2f" }],
  ["customer", "customer", { customer: "c".repeat(256) }],
  ["paymentMethod", "payment_method", { paymentMethod: "card_" }],
  ["paymentMethod", "payment_method", { paymentMethod: "tok_visa" }],
  ["paymentMethod", "payment_method", { paymentMethod: `pm_${"a".repeat(253)}` }],
  ["paymentMethod", "payment_method", { paymentMethod: "xpm_visa" }],
  ["paymentMethod", "payment_method", { paymentMethod: "pm_visa\n" }],
  ["paymentMethod", "required", { paymentMethod: undefined }],
  ["description", "description", { description: "" }],
  ["description", "description", { description: "x".repeat(1_001) }],
  ["description", "description", { description: "😀".repeat(1_001) }],
  ["description", "description", { description: "a\u0000b" }],
  ["description", "description", { description: "a\ud800b" }],
  ["description", "description", { description: null }],
  ...["123", "A*", "*A", "A".repeat(23)].map((suffix): [string, Rule, object] => [
    "statementDescriptorSuffix",
    "statement_descriptor_suffix",
    { statementDescriptorSuffix: suffix },
  ]),
  ["metadata", "metadata", { metadata: [] }],
  ["metadata", "metadata", { metadata: { a: 1 } }],
  ["metadata", "metadata", { metadata: { a: "" } }],
  ["metadata", "metadata", { metadata: { "a[b]": "c" } }],
  ["metadata", "metadata", { metadata: { ["k".repeat(41)]: "v" } }],
  ["metadata", "metadata", { metadata: { k: "v".repeat(501) } }],
  ["metadata", "metadata", { metadata: { k: "😀".repeat(501) } }],
  ["metadata", "metadata", { metadata: many(50) }],
  ["metadata.message_id", "metadata_message_id", { metadata: { message_id: "x" } }],
  ["capture_method", "unknown_field", { capture_method: "manual" }],
  ["toString", "unknown_field", { toString: "x" }],
  ["job", "unknown_field", { job: "payments" }],
  ["meta", "unknown_field", { meta: {} }],
  ["extra", "unknown_field", { extra: nested(63) }],
  ["extra", "unknown_field", { extra: Array.from({ length: 100 }, () => []) }],
  ["body", "nesting", { extra: nested(64) }],
  ["body", "nesting", { extra: nested(64, (inner) => ({ a: inner })) }],
  ["extra", "unknown_field", { extra: Array.from({ length: 986 }, () => 1) }],
  ["body", "values", { extra: Array.from({ length: 987 }, () => 1) }],
  ["body", "values", { metadata: many(500, "") }],
  [`${BURIED}…`, "card_number", buried(60)],
  [BURIED, "card_number", buried(17)],
  ["extra", "card_number", { extra: ["4242424242424242"] }],
  ["extra.pan", "card_number", { extra: { pan: 4242424242424242 } }],
  ["(unprintable name)", "unknown_field", { "evil\nname": "x" }],
  ["description", "card_number", { description: "4242424242424242" }],
  ["metadata.note", "card_number", { metadata: { note: "my 4000-0566-5566-5556 card" } }],
  ["id", "card_number", { id: "4242424242424242" }],
  ["(unprintable name)", "card_number", { "4242424242424242": 1 }],
  ["card.cvc", "card_data", { card: { number: 1, cvc: "123" } }],
  ["metadata.cvv", "card_data", { metadata: { cvv: "12" } }],
];

test.each(broken)("%s breaks %s", (field, rule, change) => {
  expect(decode({ ...PLAIN, ...change })).toMatchObject({
    kind: "invalid",
    violation: { field, rule },
  });
});

test("a body of 262,144 characters is read, and one of a character more is not", () => {
  const body = JSON.stringify(PLAIN).padEnd(262_144);

  expect(decode(body)).toMatchObject({ kind: "message" });
  expect(decode(`${body} `)).toEqual({
    kind: "invalid",
    violation: { field: "body", rule: "body_length" },
  });
});

const PROTO = JSON.stringify(PLAIN).replace("{", '{"__proto__":{},');
const NO_JSON = '{"Type":"Notification","Message":"hi"}';
const BINARY = '{"specversion":"1.0","data_base64":"e30="}';

test.each<[string, string, string, Rule]>([
  ["text", "hello", "body", "body_json"],
  ["nothing", "", "body", "body_json"],
  ["an array", "[]", "body", "body_json"],
  ["a number", "5", "body", "body_json"],
  ["null", "null", "body", "body_json"],
  ["a key given twice", '{"id":"a","id":"b"}', "body", "body_json"],
  ["one number written in two ways", '{"amount":5,"amount":5.0}', "body", "body_json"],
  ["a key written in two ways", '{"amount":5,"\\u0061mount":7}', "body", "body_json"],
  ["a body that is nested too deep", "[".repeat(100_000), "body", "nesting"],
  ["an object that is nested too deep", '{"a":'.repeat(50_000), "body", "nesting"],
  ["a number of 100 digits", `{"amount":${"9".repeat(100)}}`, "id", "message_id"],
  ["a number of 101 digits", `{"amount":${"9".repeat(101)}}`, "body", "number_length"],
  ["__proto__", PROTO, "__proto__", "unknown_field"],
  ["CloudEvents 0.3", '{"specversion":"0.3","id":"a"}', "specversion", "cloudevents_version"],
  ["binary CloudEvents", BINARY, "data_base64", "cloudevents_data"],
  ["an SNS message that is no JSON", NO_JSON, "Message", "body_json"],
  ["an EventBridge event without detail", '{"detail-type":"x"}', "detail", "body_json"],
])("%s is invalid", (_what, body, field, rule) => {
  expect(decode(body)).toMatchObject({ kind: "invalid", violation: { field, rule } });
});

const CLOUD_EVENT = { specversion: "1.0", id: "a", time: "2026-11-29T11:59:00Z", data: PAYMENT };
const META = { id: "a", schema_version: 1, created_at: NOW };
const BABEL_QUEUE = { job: "payments", trace_id: "trace-1", data: PAYMENT, meta: META };

test.each<[field: string, rule: Rule, body: object]>([
  ["time", "sender_time", { ...CLOUD_EVENT, time: "yesterday" }],
  ["data", "required", { ...CLOUD_EVENT, data: undefined }],
  ["extension", "card_number", { ...CLOUD_EVENT, extension: "4242 4242 4242 4242" }],
  ["trace_id", "card_number", { ...BABEL_QUEUE, trace_id: "4242424242424242" }],
  ["meta.pan", "card_number", { ...BABEL_QUEUE, meta: { ...META, pan: 4242424242424242 } }],
  ["data.amount", "required", { ...CLOUD_EVENT, data: {} }],
  ["job", "job", { ...BABEL_QUEUE, job: "" }],
  ["job", "job", { ...BABEL_QUEUE, job: " \t\n\v\f\r" }],
  ["job", "job", { ...BABEL_QUEUE, job: `${" ".repeat(1_000)}V` }],
  ["meta.schema_version", "schema_version", { ...BABEL_QUEUE, meta: {} }],
  ["meta.id", "message_id", { ...BABEL_QUEUE, meta: { ...META, id: "" } }],
  ["meta.created_at", "sender_time", { ...BABEL_QUEUE, meta: { ...META, created_at: "now" } }],
  ["data.amount", "required", { ...BABEL_QUEUE, data: {} }],
  ["detail.id", "message_id", { "detail-type": "x", detail: { ...PLAIN, id: "" } }],
  ["Message.id", "message_id", sns({ ...PLAIN, id: "" })],
  ["Message.id", "message_id", sns({ ...CLOUD_EVENT, id: "" })],
  ["Message.detail.data.amount", "required", sns(eventBridge({ ...CLOUD_EVENT, data: {} }))],
  ["detail.detail.detail.detail", "wrapping", wrapped(eventBridge, 4)],
  ["Message.Message.Message.Message", "wrapping", wrapped(sns, 4)],
])("the violation of %s (%s) gives its path in the body", (field, rule, body) => {
  expect(decode(body)).toMatchObject({ kind: "invalid", violation: { field, rule } });
});

function sns(message: object): object {
  return { Type: "Notification", Message: JSON.stringify(message) };
}
function eventBridge(detail: object): object {
  return { "detail-type": "x", detail };
}
function wrapped(wrap: (message: object) => object, layers: number): object {
  return Array.from({ length: layers }).reduce<object>(wrap, PLAIN);
}

test.each(["V", "V".repeat(2_000)])("a job is read, however long its name is", (job) => {
  expect(decode({ ...BABEL_QUEUE, job })).toMatchObject({ kind: "message" });
});

test.each(["2", "1.0", "one", "1".repeat(2_000)])(
  "the message attribute says version %s: invalid",
  (version) => {
    expect(decode(BABEL_QUEUE, version)).toEqual({
      kind: "invalid",
      violation: { field: "bq-schema-version", rule: "schema_version" },
    });
  },
);

test.each(["1", "", " "])("the message attribute says version %j: read", (version) => {
  expect(decode(BABEL_QUEUE, version)).toMatchObject({ kind: "message" });
});

test("the sender's trace goes with the message, if it is fit for a log", () => {
  const traceparent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
  const traceOf = (trace_id: unknown) => {
    const decoded = decode({ ...BABEL_QUEUE, trace_id });
    return decoded.kind === "message" ? decoded.message.traceId : decoded;
  };

  expect(decode({ ...CLOUD_EVENT, traceparent })).toMatchObject({
    message: { traceId: traceparent },
  });
  expect(traceOf("Root=1:a;b.c-d")).toBe("Root=1:a;b.c-d");
  for (const unfit of ["trace 1", " trace", "trace\n", "t".repeat(201), "", 5, true]) {
    expect(traceOf(unfit)).toBeUndefined();
  }
});

test("the id of an invalid message is there when it can be read", () => {
  expect(decode({ ...PLAIN, amount: -1 })).toMatchObject({ messageId: "order-1001" });
  expect(decode({ ...PLAIN, id: "4242424242424242" })).not.toHaveProperty("messageId");
});

test("a violation is one sentence that names the field and the rule", () => {
  expect(explainViolation({ field: "detail.amount", rule: "amount" })).toBe(
    "detail.amount must be an integer in Stripe's smallest unit of the currency, from 1 to 999999999999, written in plain digits.",
  );
  for (const sentence of Object.values(RULES)) expect(sentence).not.toMatch(/\.$|\. /);
});

const UUID = "holds what looks like a card number; use a UUID instead.";
const PAYMENT_METHOD = "holds what looks like a card number; send a PaymentMethod id instead.";

test.each<[field: string, rule: Rule, sentence: string]>([
  ["id", "card_number", UUID],
  ["meta.id", "card_number", UUID],
  ["detail.id", "card_number", UUID],
  ["Message.meta.id", "card_number", UUID],
  ["idea", "card_number", PAYMENT_METHOD],
  ["metadata.id", "card_number", PAYMENT_METHOD],
  ["metadata.card", "card_number", PAYMENT_METHOD],
  ["id", "required", "is required."],
  ["time", "sender_time", "must be the sender's time, such as 2026-11-29T12:00:00Z."],
  [
    "detail.meta.created_at",
    "sender_time",
    "must be the sender's time in ms since 1970, such as 1795953600000.",
  ],
  [
    "meta.created_at",
    "sender_time_ahead",
    "is further ahead of this worker's clock than a sender's clock may be: set the sender's clock, then redrive.",
  ],
])("%s, which breaks %s, is told what to send in its place", (field, rule, sentence) => {
  expect(explainViolation({ field, rule })).toBe(`${field} ${sentence}`);
});
