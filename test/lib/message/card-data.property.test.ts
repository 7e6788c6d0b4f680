// What is taken for a card number, and what only looks like one.

import { randomBytes } from "node:crypto";

import { expect, test } from "vitest";

import { containsCardNumber } from "../../../lib/message/card-data.ts";

test.each([
  "4242424242424242", // Stripe's test cards: https://docs.stripe.com/testing
  "4242 4242 4242 4242",
  "4242-4242-4242-4242",
  "378282246310005",
  "3782 822463 10005",
  "30569309025904",
  "6011000990139424",
  "card4242424242424242",
  "order-4000056655665556-1",
  "00000000-4242424242424242",
  "4242424242424242aaaaaaaaaaaaaaaaa", // one digit more than an identifier has
])("%s is a card number", (text) => {
  expect(containsCardNumber(text)).toBe(true);
});

test.each([
  "4242424242424241", // fails the Luhn check
  "42424242424242424242", // 20 digits
  "order-1001",
  "2026-11-29T12:00:00.000Z",
])("%s is not a card number", (text) => {
  expect(containsCardNumber(text)).toBe(false);
});

test("a UUID without hyphens or a trace context that holds a Luhn-valid run by chance is no card number", () => {
  const unlucky = "a4242424242424242bcdef0123456789";

  expect(containsCardNumber(unlucky)).toBe(false);
  expect(containsCardNumber(`00-${unlucky}-00f067aa0ba902b7-01`)).toBe(false);
  expect(containsCardNumber("00-4bf92f3577b34da6a3ce929d0e0e4736-4242424242424242-01")).toBe(false);
});

test("no random identifier of 128 bits is taken for a card number", () => {
  const ids = Array.from({ length: 20_000 }, () => randomBytes(16).toString("hex"));

  expect(ids.filter(containsCardNumber)).toEqual([]);
});
