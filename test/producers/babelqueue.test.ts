// BabelQueue's own producer (PyPI: babelqueue 1.24.0) made the messages of babelqueue.json; see
// make-babelqueue.py. The cases of its SQS binding are those of its conformance suite,
// https://github.com/BabelQueue/conformance (manifest.json, `cases` and `sqs`).

import { expect, test } from "vitest";

import { decodeMessage } from "../../lib/message/decode.ts";
import { WORKER_TIMINGS } from "../support/timings.ts";
import PRODUCED from "./babelqueue.json" with { type: "json" };

// A minute after the messages of babelqueue.json were made.
const NOW = 1_795_980_789_855;
const PAYMENT = {
  amount: 1200,
  currency: "eur",
  customer: "cus_ada",
  paymentMethod: "pm_card_visa",
};

const decode = (body: string, schemaVersion?: string) =>
  decodeMessage(body, NOW, WORKER_TIMINGS, schemaVersion);

const [first] = PRODUCED;
const FIRST = first?.body ?? "";
const FIRST_ID = "845c8106-e256-43a0-b175-e1fa3a7fccbe";

/** The first message of the fixture with other keys; `undefined` takes one away. */
const changed = (changes: object) =>
  JSON.stringify({ ...(JSON.parse(FIRST) as object), ...changes });
const meta = (changes: object) =>
  changed({ meta: { ...(JSON.parse(FIRST) as { meta: object }).meta, ...changes } });

test.each([
  ["a payment", FIRST_ID, PAYMENT],
  [
    "a payment with text beyond ASCII",
    "7f8d1510-21a9-4f90-abf2-926484d214bd",
    { ...PAYMENT, description: "Café — naïve ☕ 5/7", metadata: { order: "1042" } },
  ],
  ["a payment that continues a trace", "bbda9ab6-0030-45ab-bbb9-67827bb20661", PAYMENT],
  ["a payment with the producer's own meta", "fccab2ff-6282-40f7-98cd-fc4a1a8705d7", PAYMENT],
  // The dead-lettered copy is the same operation as the first.
  ["a payment that came back from a dead-letter queue", FIRST_ID, PAYMENT],
])("%s from BabelQueue's producer is read, under its meta.id", (name, id, payment) => {
  const { body = "", schemaVersion } = PRODUCED.find((message) => message.name === name) ?? {};

  const decoded = decode(body, schemaVersion?.StringValue);

  expect(decoded).toMatchObject({ kind: "message", message: { id, payment } });
});

test("a trace that the producer continues goes with the message", () => {
  expect(decode(PRODUCED[2]?.body ?? "")).toMatchObject({
    message: { traceId: "7b3f9c2a-e41d-4f88-9b2a-1c0d5e6f7a8b" },
  });
});

test.each([
  ["urn in place of job", changed({ urn: "urn:babel:payments:charge", job: undefined })],
  ["keys that the envelope does not define", changed({ extra_top: 1, timestamp: 1 })],
  ["an attempt count", changed({ attempts: 5 })],
])("an envelope with %s is the same message", (_what, body) => {
  expect(decode(body)).toEqual(decode(FIRST));
});

test.each([
  ["a later schema version", meta({ schema_version: 2 }), "meta.schema_version"],
  ["a schema version that is a string", meta({ schema_version: "1" }), "meta.schema_version"],
  ["a schema version with a fraction", meta({ schema_version: 1.5 }), "meta.schema_version"],
  ["no schema version", meta({ schema_version: undefined }), "meta.schema_version"],
  ["a schema version in a list", meta({ schema_version: [1] }), "meta.schema_version"],
  ["a job that is no string", changed({ job: 7 }), "job"],
  ["a blank job", changed({ job: " \t" }), "job"],
  ["neither job nor urn", changed({ job: undefined }), "id"],
  ["a list for data", changed({ data: [] }), "data"],
  // Stricter than BabelQueue, which leaves `data` to its consumer.
  ["a key that no payment has", changed({ data: { ...PAYMENT, tip: 100 } }), "data.tip"],
  // BabelQueue's idempotency guard runs the handler when there is no usable id ("fails open"). Here
  // that would be a charge that nothing keeps from being made twice.
  ...[undefined, null, "", 7, "order 1", "order-😀"].map((id): [string, string, string] => [
    `the id ${JSON.stringify(id)}`,
    meta({ id }),
    "meta.id",
  ]),
])("an envelope with %s is invalid", (_what, body, field) => {
  expect(decode(body)).toMatchObject({ kind: "invalid", violation: { field } });
});

test.each(["", " ", " \t", "\n\v\f\r", "1", undefined])(
  "the body is decoded behind the attribute bq-schema-version %j",
  (schemaVersion) => {
    expect(decode(FIRST, schemaVersion)).toMatchObject({ kind: "message" });
  },
);

const LATER_OR_PADDED = ["2", "01", "x", " 1", "1 ", "\t1\n"];
// Blank to Unicode, but not to BabelQueue.
const NOT_BLANK = ["\u00a0", "\u0085", "\u3000", "\ufeff", "\u00a01", "1\u3000"];

test.each([...LATER_OR_PADDED, ...NOT_BLANK])(
  "the attribute bq-schema-version %j makes the message invalid before its body is read",
  (version) => {
    const invalid = { violation: { field: "bq-schema-version", rule: "schema_version" } };

    expect(decode(FIRST, version)).toMatchObject(invalid);
    expect(decode("no JSON at all", version)).toMatchObject(invalid);
  },
);
