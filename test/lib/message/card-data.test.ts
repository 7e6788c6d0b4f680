import { expect, test } from "vitest";

import {
  containsCardNumber,
  isCardNumber,
  namesSecurityCode,
} from "../../../lib/message/card-data.ts";

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
  "3782-822463-10005",
  "my card 4000 0566 5566 5556 please",
  "(4000-0566-5566-5556)",
  "amex: 3782 822463 10005, thanks",
  "card=4242424242424242;",
  "4242.4242.4242.4242",
  "4242  4242  4242  4242",
  "4242\n4242\n4242\n4242",
  "4242\u00a04242\u00a04242\u00a04242",
  "4242\u20114242\u20134242\u20144242",
  "card4242 4242 4242 4242",
  "４２４２４２４２４２４２４２４２",
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
  ["7b3f-4000-0566-5566-5556", "is a part of a longer id"],
  ["4000-0566-5566-5556-7b3f", "is a part of a longer id"],
  ["1-3782-822463-10005", "is a part of a longer id"],
  ["3782-822463-10005-1", "is a part of a longer id"],
  ["4242 4242 4242 7b3f9c2ae41d4f889b2a1c0d5e6f7a8b 4242", "has an identifier in it"],
  ["order-1001", "is an order number"],
])("%s is not: it %s", (text) => {
  expect(containsCardNumber(text)).toBe(false);
});

test.each([
  ["4242424242424242", true],
  ["30569309025904", true],
  ["6304000000000000000", true],
  ["4242424242424241", false], // does not pass the Luhn check
  ["42424242424242424242", false], // has 20 digits
  ["4222222222222", false], // has the 13 digits of a time in ms
  ["1795953600000001", false], // begins like a time in µs, and passes the Luhn check
])("the number %s is one of a card: %s", (digits, expected) => {
  expect(isCardNumber(digits)).toBe(expected);
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
  "cvvcode",
  "card_cvc2",
  "csc",
  "cav2",
  "card-verification-code",
])("a field called %s would hold a security code", (name) => {
  expect(namesSecurityCode(name)).toBe(true);
});

test.each([
  "cid",
  "csv",
  "discount",
  "verification",
  "code",
  "currency",
  "cvcount",
  "cscore",
  "vcsc",
  "cvccodes",
  "xcvvcode",
])("a field called %s would not", (name) => {
  expect(namesSecurityCode(name)).toBe(false);
});
