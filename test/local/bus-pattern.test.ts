import { expect, test } from "vitest";

import { compilePattern, InvalidPattern } from "../../local/bus/pattern.ts";

const EVENT = {
  source: "payment-worker",
  "detail-type": "payment.succeeded",
  detail: {
    revision: 2,
    subject: "order-1001",
    nothing: null,
    tags: ["a", "b"],
    data: { result: "succeeded", amount: 1250, currency: "eur" },
  },
};

test.each<[object, boolean]>([
  [{}, true],
  [{ source: ["payment-worker"] }, true],
  [{ source: ["other", "payment-worker"] }, true],
  [{ source: ["other"] }, false],
  [{ source: ["payment-worker"], "detail-type": ["payment.failed"] }, false],
  [{ detail: { data: { result: ["succeeded"] } } }, true],
  [{ detail: { data: { amount: [1250] } } }, true],
  [{ detail: { data: { amount: ["1250"] } } }, false],
  [{ detail: { nothing: [null] } }, true],
  [{ detail: { tags: ["b"] } }, true],
  [{ detail: { tags: ["c"] } }, false],
  [{ "detail-type": [{ prefix: "payment." }] }, true],
  [{ "detail-type": [{ prefix: "order." }] }, false],
  [{ "detail-type": [{ suffix: ".succeeded" }] }, true],
  [{ "detail-type": [{ "anything-but": "payment.failed" }] }, true],
  [{ "detail-type": [{ "anything-but": ["payment.failed", "payment.succeeded"] }] }, false],
  [{ "detail-type": [{ "anything-but": { prefix: "payment." } }] }, false],
  [{ missing: [{ "anything-but": "x" }] }, false], // an absent field matches nothing but exists
  [{ missing: [{ exists: false }] }, true],
  [{ missing: [{ exists: true }] }, false],
  [{ detail: { subject: [{ exists: true }] } }, true],
  [{ detail: { subject: { deeper: [{ exists: false }] } } }, true],
  [{ detail: { data: { amount: [{ numeric: [">", 1000] }] } } }, true],
  [{ detail: { data: { amount: [{ numeric: [">", 1000, "<=", 1249] }] } } }, false],
  [{ detail: { data: { amount: [{ numeric: ["=", 1250] }] } } }, true],
  [{ detail: { data: { currency: [{ numeric: [">", 0] }] } } }, false],
])("%j matches: %s", (pattern, matches) => {
  expect(compilePattern(JSON.stringify(pattern))(EVENT)).toBe(matches);
});

test.each([
  "",
  "[]",
  '{"source":"x"}',
  '{"source":[]}',
  '{"source":[{"like":"x"}]}',
  '{"n":[{"numeric":[">"]}]}',
  '{"n":[{"numeric":["~",1]}]}',
  '{"n":[{"prefix":"a","suffix":"b"}]}',
])("%s is not a pattern", (text) => {
  expect(() => compilePattern(text)).toThrow(InvalidPattern);
});
