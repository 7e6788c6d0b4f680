// BabelQueue's own producer (PyPI: babelqueue 1.24.0) made the messages of babelqueue.json; see
// make-babelqueue.py. The cases of its SQS binding are those of its conformance suite,
// https://github.com/BabelQueue/conformance (manifest.json, `cases` and `sqs`).

import { readFileSync } from "node:fs";

import { expect, test } from "vitest";

import { decodeMessage } from "../../lib/message/decode.ts";
import { WORKER_TIMINGS } from "../support/timings.ts";

type Produced = {
  name: string;
  body: string;
  attributes: Record<string, { DataType: string; StringValue: string }>;
};

const PRODUCED = JSON.parse(
  readFileSync(new URL("babelqueue.json", import.meta.url), "utf8"),
) as Produced[];

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

/** The first message of the fixture, changed. */
const changed = (change: (envelope: Record<string, unknown>) => void): string => {
  const envelope = JSON.parse(PRODUCED[0]?.body ?? "") as Record<string, unknown>;
  change(envelope);
  return JSON.stringify(envelope);
};

const meta = (changes: object) =>
  changed((envelope) => {
    envelope["meta"] = { ...(envelope["meta"] as object), ...changes };
  });

test.each([
  ["a payment", "845c8106-e256-43a0-b175-e1fa3a7fccbe", PAYMENT],
  [
    "a payment with text beyond ASCII",
    "7f8d1510-21a9-4f90-abf2-926484d214bd",
    { ...PAYMENT, description: "Café — naïve ☕ 5/7", metadata: { order: "1042" } },
  ],
  ["a payment that continues a trace", "bbda9ab6-0030-45ab-bbb9-67827bb20661", PAYMENT],
  ["a payment with the producer's own meta", "fccab2ff-6282-40f7-98cd-fc4a1a8705d7", PAYMENT],
  // The dead-lettered copy is the same operation as the first.
  [
    "a payment that came back from a dead-letter queue",
    "845c8106-e256-43a0-b175-e1fa3a7fccbe",
    PAYMENT,
  ],
])("%s from BabelQueue's producer is read", (name, id, payment) => {
  const produced = PRODUCED.find((message) => message.name === name);

  const decoded = decode(
    produced?.body ?? "",
    produced?.attributes["bq-schema-version"]?.StringValue,
  );

  expect(decoded).toMatchObject({ kind: "message", message: { id, payment } });
});

test("the message id is meta.id, and no other id of the envelope", () => {
  const produced = PRODUCED[2];

  expect(decode(produced?.body ?? "")).toMatchObject({
    message: {
      id: "bbda9ab6-0030-45ab-bbb9-67827bb20661",
      traceId: "7b3f9c2a-e41d-4f88-9b2a-1c0d5e6f7a8b",
    },
  });
});

test("urn is read as an alias of job", () => {
  const body = changed((envelope) => {
    envelope["urn"] = envelope["job"];
    delete envelope["job"];
  });

  expect(decode(body)).toMatchObject({ kind: "message", message: { payment: PAYMENT } });
});

test("keys that the envelope does not define are ignored outside the payment, and invalid inside", () => {
  const outside = changed((envelope) => Object.assign(envelope, { extra_top: 1, timestamp: 1 }));
  const inside = changed((envelope) => Object.assign(envelope["data"] as object, { tip: 100 }));

  expect(decode(outside)).toMatchObject({ kind: "message", message: { payment: PAYMENT } });
  // Stricter than BabelQueue, which leaves `data` to its consumer.
  expect(decode(inside)).toMatchObject({
    kind: "invalid",
    violation: { field: "data.tip", rule: "unknown_field" },
  });
});

test.each([
  ["a later schema version", meta({ schema_version: 2 }), "meta.schema_version"],
  ["a schema version that is a string", meta({ schema_version: "1" }), "meta.schema_version"],
  ["a schema version with a fraction", meta({ schema_version: 1.5 }), "meta.schema_version"],
  ["no schema version", meta({ schema_version: undefined }), "meta.schema_version"],
  ["a schema version in a list", meta({ schema_version: [1] }), "meta.schema_version"],
  ["a job that is no string", changed((envelope) => (envelope["job"] = 7)), "job"],
  ["a blank job", changed((envelope) => (envelope["job"] = " \t")), "job"],
  ["neither job nor urn", changed((envelope) => delete envelope["job"]), "id"],
  ["a list for data", changed((envelope) => (envelope["data"] = [])), "data"],
])("an envelope with %s is invalid", (_what, body, field) => {
  expect(decode(body)).toMatchObject({ kind: "invalid", violation: { field } });
});

test.each(["", " ", " \t", "\n\v\f\r", "1", undefined])(
  "the body is decoded behind the attribute bq-schema-version %j",
  (schemaVersion) => {
    expect(decode(PRODUCED[0]?.body ?? "", schemaVersion)).toMatchObject({ kind: "message" });
  },
);

const LATER_OR_PADDED = ["2", "01", "x", " 1", "1 ", "\t1\n"];
// Blank to Unicode, but not to BabelQueue.
const NOT_BLANK = ["\u00a0", "\u0085", "\u3000", "\ufeff", "\u00a01", "1\u3000"];

test.each([...LATER_OR_PADDED, ...NOT_BLANK])(
  "the attribute bq-schema-version %j makes the message invalid before its body is read",
  (version) => {
    const invalid = { violation: { field: "bq-schema-version", rule: "schema_version" } };

    expect(decode(PRODUCED[0]?.body ?? "", version)).toMatchObject(invalid);
    expect(decode("no JSON at all", version)).toMatchObject(invalid);
  },
);

// BabelQueue's idempotency guard runs the handler when there is no usable id ("fails open"). Here
// that would be a charge that nothing keeps from being made twice.
test.each([undefined, null, "", 7, "order 1", "order-😀"])(
  "a message with the id %j is invalid, where BabelQueue's guard runs the handler",
  (id) => {
    expect(decode(meta({ id }))).toEqual({
      kind: "invalid",
      violation: { field: "meta.id", rule: "message_id" },
    });
  },
);

test("an attempt count in the envelope changes nothing", () => {
  const retried = changed((envelope) => (envelope["attempts"] = 5));

  expect(decode(retried)).toEqual(decode(PRODUCED[0]?.body ?? ""));
});
