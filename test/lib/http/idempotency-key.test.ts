import { expect, test } from "vitest";

import { readMessageId } from "../../../lib/http/idempotency-key.ts";

test.each([
  ["order-1001", "order-1001"],
  ['"order-1001"', "order-1001"],
  ["  order-1001 ", "order-1001"],
  ['"a,b"', "a,b"],
  ['"a\\"b\\\\c"', 'a"b\\c'],
  ["x".repeat(255), "x".repeat(255)],
])("the header %j is the key %j", (header, id) => {
  expect(readMessageId(header)).toEqual({ id });
});

test.each([
  [undefined, "idempotency-key-missing"],
  ["", "idempotency-key-missing"],
  ["  ", "idempotency-key-missing"],
  ["a,b", "idempotency-key-invalid"], // two headers, as API Gateway joins them
  ['"a","b"', "idempotency-key-invalid"],
  ['"a', "idempotency-key-invalid"],
  ['""', "idempotency-key-invalid"],
  ["a b", "idempotency-key-invalid"],
  ["order-\u{1F600}", "idempotency-key-invalid"],
  ["x".repeat(256), "idempotency-key-invalid"],
])("the header %j is not accepted: %s", (header, problem) => {
  expect(readMessageId(header)).toMatchObject({ problem });
});

test("a caller's keys are its own, and both fit into a message id", () => {
  expect(readMessageId("order-1", "alice")).toEqual({ id: "alice/order-1" });
  expect(readMessageId("x".repeat(249), "alice")).toEqual({ id: `alice/${"x".repeat(249)}` });
  expect(readMessageId("x".repeat(250), "alice")).toMatchObject({
    problem: "idempotency-key-invalid",
    detail: "A key is 1 to 249 printable ASCII characters without spaces.",
  });
});
