import { expect, test } from "vitest";

import { containsCardNumber, namesSecurityCode } from "../lib/card-data.ts";

// Test numbers that the card networks publish.
test.each([
  "4242424242424242",
  "378282246310005",
  "4222222222222",
  "6304000000000000000",
  "4242 4242 4242 4242",
  "4242-4242-4242-4242",
  "3782 822463 10005",
  "3056 930902 5904",
  "6205 5000 0000 0000 004",
  "card=4242424242424242;",
  "order4242424242424242x",
])("%s is seen as a card number", (text) => {
  expect(containsCardNumber(text)).toBe(true);
});

test.each([
  ["4242424242424241", "does not pass the Luhn check"],
  ["424242424242", "has 12 digits"],
  ["42424242424242424242", "has 20 digits"],
  ["7b3f9c2a-e41d-4f88-9b2a-1c0d5e6f7a8b", "is a UUID"],
  ["12345678-1234-4123-8123-123456789012", "is a UUID of digits only"],
  ["00000000-0000-0000-0000-000000000000", "is the nil UUID"],
  ["order-1001", "is an order number"],
])("%s is not: it %s", (text) => {
  expect(containsCardNumber(text)).toBe(false);
});

test.each([
  "cvc",
  "CVV",
  "cvv2",
  "card_cvc",
  "cardCvv",
  "security-code",
  "Card Security Code",
  "cvcCode",
])("a field called %s would hold a security code", (name) => {
  expect(namesSecurityCode(name)).toBe(true);
});

test.each(["cid", "csv", "discount", "verification", "code", "currency"])(
  "a field called %s would not",
  (name) => {
    expect(namesSecurityCode(name)).toBe(false);
  },
);
