// Bodies for the decoder: valid ones in every shape, and the same with one thing wrong.

import fc from "fast-check";

import { CURRENCIES } from "./oracle.ts";
import { CARDS, STRANGE, STRANGE_NAMES, STRANGE_NUMBERS, STRANGE_TEXTS } from "./strange.ts";

export const NOW = Date.parse("2026-12-01T12:00:00Z");

/** A JSON value whose numbers may be written in any characters. */
export type Json =
  | string
  | boolean
  | null
  | { number: string }
  | readonly Json[]
  | { readonly fields: readonly (readonly [string, Json])[] };

const object = (fields: Record<string, Json | undefined>): Json => ({
  fields: Object.entries(fields).flatMap(([name, value]) =>
    value === undefined ? [] : ([[name, value]] as const),
  ),
});

const number = (value: number): Json => ({ number: String(value) });

export function write(value: Json): string {
  if (Array.isArray(value)) return `[${value.map(write).join()}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  if ("number" in value) return value.number;
  const { fields } = value as { fields: readonly (readonly [string, Json])[] };
  return `{${fields.map(([name, item]) => `${JSON.stringify(name)}:${write(item)}`).join()}}`;
}

const id = fc.string({
  unit: fc.constantFrom(..."!#$%&'()*+,-./:;<=>?@ABCxyz[]^_`{|}~"),
  minLength: 1,
  maxLength: 255,
});
const suffixOf = fc.string({ unit: fc.constantFrom(..."abcXYZ019_"), minLength: 1, maxLength: 24 });
const text = (maxLength: number) => fc.string({ unit: "grapheme", minLength: 1, maxLength });
const currency = fc
  .constantFrom(...CURRENCIES)
  .chain((code) =>
    fc.constantFrom(code, code.toLowerCase(), `${code[0]}${code.slice(1).toLowerCase()}`),
  );
const metadata = fc
  .dictionary(
    text(8).filter((key) => !/[[\]]/.test(key)),
    text(40),
    { maxKeys: 5 },
  )
  .map(object);

const payment = fc
  .record(
    {
      amount: fc.integer({ min: 1, max: 9_999_999_999 }).map((n) => number(n * 100)),
      currency,
      customer: fc.tuple(fc.constantFrom("cus_", "a-"), suffixOf).map((parts) => parts.join("")),
      paymentMethod: fc
        .tuple(fc.constantFrom("pm_", "src_"), suffixOf)
        .map((parts) => parts.join("")),
      description: text(60),
      statementDescriptorSuffix: fc.constantFrom("ORDER 1042", "Straße 7", "a", "x".repeat(22)),
      metadata,
    },
    { requiredKeys: ["amount", "currency", "customer", "paymentMethod"] },
  )
  .map((fields): Record<string, Json | undefined> => fields);

// From just inside the deduplication window to just inside five minutes ahead, with room for fractions.
const sentAt = fc.integer({ min: NOW - 30 * 86_400_000 + 1_000, max: NOW + 300_000 - 1_000 });

const rfc3339 = fc
  .tuple(sentAt, fc.integer({ min: -14 * 60, max: 14 * 60 }))
  .map(([ms, offset]) => {
    const local = new Date(ms + offset * 60_000).toISOString().slice(0, -1);
    const [hours, minutes] = [Math.floor(Math.abs(offset) / 60), Math.abs(offset) % 60];
    const zone = `${String(hours).padStart(2, "0")}:${String(minutes).padStart(2, "0")}`;
    return local + (offset === 0 ? "Z" : `${offset < 0 ? "-" : "+"}${zone}`);
  });

const plain = fc
  .tuple(id, rfc3339, payment)
  .map(([id, createdAt, fields]) => object({ id, createdAt, ...fields }));

const cloudEvent = fc.tuple(id, rfc3339, payment, text(20)).map(([id, time, fields, extension]) =>
  object({
    specversion: "1.0",
    type: "payment",
    source: "/shop",
    id,
    time,
    extension,
    data: object(fields),
  }),
);

const babelQueue = fc
  .tuple(id, sentAt, payment, fc.constantFrom("job", "urn"))
  .map(([id, createdAt, fields, job]) =>
    object({
      [job]: "urn:babel:payments:charge",
      trace_id: "7b3f9c2a-e41d-4f88-9b2a-1c0d5e6f7a8b",
      data: object(fields),
      meta: object({ id, schema_version: number(1), created_at: number(createdAt) }),
      attempts: number(0),
    }),
  );

const sns = (inner: Json) =>
  object({ Type: "Notification", MessageId: "22b80b92-fdea", Message: write(inner) });
const eventBridge = (inner: Json) =>
  object({ version: "0", id: "6a7e8feb-b491", "detail-type": "Payment", detail: inner });

/** A body that must be accepted. */
export const validMessage: fc.Arbitrary<Json> = fc
  .tuple(
    fc.oneof(plain, cloudEvent, babelQueue),
    fc.array(fc.constantFrom(sns, eventBridge), { maxLength: 3 }),
  )
  .map(([inner, layers]) => layers.reduce((body, wrap) => wrap(body), inner));

const texts = fc.constantFrom(...STRANGE_TEXTS, ...CARDS, ...Object.values(STRANGE).flat());
const numbers = fc.constantFrom(...STRANGE_NUMBERS).map((literal): Json => ({ number: literal }));
const anyValue: fc.Arbitrary<Json> = fc.oneof(
  texts,
  numbers,
  fc.constantFrom<Json>(null, true, false, [], ["eur"], object({}), object({ a: "b" })),
  fc.integer().map(number),
  fc.string({ unit: "binary", maxLength: 30 }),
);

/** A message with one value replaced, one field added or one taken away, anywhere in it. */
export const alteredMessage: fc.Arbitrary<Json> = fc
  .tuple(
    fc.oneof(plain, cloudEvent, babelQueue, plain.map(eventBridge)),
    fc.constantFrom("replace", "replace", "fit", "add", "remove"),
    fc.nat(),
    anyValue,
    fc.constantFrom(...STRANGE_NAMES),
  )
  .map(([body, how, at, value, name]) => alter(body, { how, at, value, name }));

/** A strange value that is made for that field, where there is one. */
function fitting(key: string, item: Json, value: Json): Json {
  const choices = STRANGE[key];
  if (choices && typeof item === "string")
    return choices[write(value).length % choices.length] ?? "";
  return value;
}

type Change = { how: string; at: number; value: Json; name: string };

/** Changes field number `at` (modulo their count), counted through all levels. */
function alter(body: Json, { how, at, value, name }: Change): Json {
  let left = at % countFields(body);
  const visit = (json: Json): Json => {
    if (json === null || typeof json !== "object" || !("fields" in json)) return json;
    return {
      fields: json.fields.flatMap(([key, item]) => {
        if (left-- !== 0) return [[key, visit(item)] as const];
        if (how === "remove") return [];
        if (how === "replace") return [[key, value] as const];
        if (how === "fit") return [[key, fitting(key, item, value)] as const];
        const fresh = json.fields.every(([other]) => other !== name);
        return fresh ? [[key, item] as const, [name, value] as const] : [[key, item] as const];
      }),
    };
  };
  return visit(body);
}

function countFields(json: Json): number {
  if (json === null || typeof json !== "object" || !("fields" in json)) return 0;
  return json.fields.reduce((sum, [, item]) => sum + 1 + countFields(item), 0);
}
