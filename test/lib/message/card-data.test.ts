import { createHash } from "node:crypto";

import { expect, test } from "vitest";

import { containsCardNumber, namesSecurityCode } from "../../../lib/message/card-data.ts";
import { SEED } from "../../support/seed.ts";

// Test numbers that the networks and those who process for them publish, as they are printed.
// https://docs.stripe.com/testing#cards and, for what is not there, Adyen's and Worldpay's lists.
const CARDS: [network: string, number: string][] = [
  ["Visa", "4242 4242 4242 4242"],
  ["Visa (debit)", "4000 0566 5566 5556"],
  ["Visa of 13 digits", "4222 222 222 222"],
  ["Visa of 13 digits", "4136 000 000 008"],
  ["Visa of 19 digits", "4917 6100 0000 0000 003"],
  ["Mastercard", "5555 5555 5555 4444"],
  ["Mastercard (2-series)", "2223 0031 2200 3222"],
  ["Mastercard (prepaid)", "5105 1051 0510 5100"],
  ["American Express", "3782 822463 10005"],
  ["American Express", "3714 496353 98431"],
  ["Discover", "6011 1111 1111 1117"],
  ["Discover", "6445 6445 6445 6445"],
  ["Diners Club", "3056 930902 5904"],
  ["Diners Club", "3622 720627 1667"],
  ["Diners Club", "3852 000002 3237"],
  ["Diners Club of 16 digits", "3056 9300 0902 0004"],
  ["BCcard and DinaCard", "6555 9000 0060 4105"],
  ["JCB", "3566 0020 2036 0505"],
  ["UnionPay", "6200 0000 0000 0005"],
  ["UnionPay of 19 digits", "6205 5000 0000 0000 004"],
  ["UnionPay of 19 digits", "620550 0000000000004"],
  ["UnionPay (81)", "8171 9999 2766 0000"],
  ["Maestro", "6304 0000 0000 0000"],
  ["Maestro", "6759 6498 2643 8453"],
  ["Maestro of 19 digits", "6304 0000 0000 0000 000"],
  ["Maestro of 19 digits", "6799 9901 0000 0000 019"],
  ["Bancontact", "6703 4444 4444 4449"],
  ["Dankort", "5019 7170 1010 3742"],
  ["Mir", "2200 0000 0000 0004"],
  ["RuPay", "6082 0000 0000 0008"],
  ["Elo", "6362 9700 0045 7013"],
  ["Hipercard", "6062 8288 8866 6688"],
  ["Troy", "9792 0303 9444 0796"],
  ["Verve", "5060 6666 6666 6666 666"],
];

const WRITINGS: [how: string, write: (printed: string) => string][] = [
  ["in one", (card) => card.replaceAll(" ", "")],
  ["as printed", (card) => card],
  ["with hyphens", (card) => card.replaceAll(" ", "-")],
  // Of two groups it would be a decimal.
  ["with dots", (card) => card.replace(/^(\d+) (\d+)$/, "$1$2").replaceAll(" ", ".")],
  ["with slashes", (card) => card.replaceAll(" ", "/")],
  ["with underscores", (card) => card.replaceAll(" ", "_")],
  ["with en-dashes", (card) => card.replaceAll(" ", "\u2013")],
  ["with minus signs", (card) => card.replaceAll(" ", "\u2212")],
  ["with dashes and blanks", (card) => card.replaceAll(" ", " \u2014 ")],
  ["with no-break spaces", (card) => card.replaceAll(" ", "\u00a0")],
  ["on lines", (card) => card.replaceAll(" ", "\n")],
  [
    "in full-width digits",
    (card) => card.replaceAll(/\d/g, (d) => "０１２３４５６７８９"[+d] ?? ""),
  ],
  ...["٠١٢٣٤٥٦٧٨٩", "۰۱۲۳۴۵۶۷۸۹", "०१२३४५६७८९", "০১২৩৪৫৬৭৮৯", "๐๑๒๓๔๕๖๗๘๙"].map(
    (ten): [string, (card: string) => string] => [
      `in the digits ${ten}`,
      (card) => card.replaceAll(/\d/g, (d) => ten[+d] ?? ""),
    ],
  ),
  ["with zero-width spaces", (card) => card.replaceAll(" ", "\u200b")],
  ["with combining marks", (card) => card.replaceAll(/\d/g, "$&\u0336")],
  ["in a sentence", (card) => `order 7 paid with ${card}, 12/29 123`],
  ["in brackets", (card) => `(${card.replaceAll(" ", "-")})`],
  ["behind a hyphen", (card) => `card: -${card.replaceAll(" ", "-")}`],
  ["with a letter behind it", (card) => `${card}x`],
  ["glued to a word", (card) => `card${card}`],
  ["behind a dot", (card) => `No.${card.replaceAll(" ", "")}`],
  ["in an id", (card) => `order-${card.replaceAll(" ", "")}-1`],
  ["in a word", (card) => `order${card.replaceAll(" ", "")}x`],
];

test.each(WRITINGS)("the test numbers of every network, %s, are card numbers", (_how, write) => {
  const missed = CARDS.map(([, card]) => write(card)).filter((text) => !containsCardNumber(text));

  expect(missed).toEqual([]);
});

test.each([
  ["4242424242424241", "does not pass the Luhn check"],
  ["424242424242", "has 12 digits"],
  ["42424242424242424242", "has 20 digits"],
  ["4242-4242-4242-4242-4242", "has 20 digits in all"],
  ["1000000000000008", "begins as no network's cards do"],
  ["30569309025904000", "is longer than its network's cards"],
  ["7b3f9c2a-e41d-4f88-9b2a-1c0d5e6f7a8b", "is a UUID"],
  ["12345678-4242-4242-4242-424242424242", "is a UUID of digits only"],
  ["00000000-0000-0000-0000-000000000000", "is the nil UUID"],
  ["7b3f-4000-0566-5566-5556", "is a part of a longer id"],
  ["4000-0566-5566-5556-7b3f", "is a part of a longer id"],
  ["4000-0566-5566-5556-b3f7", "is a part of a longer id"],
  ["4000-0566-5566-5556--1", "is a part of a longer id"],
  ["7b3f\u20134000\u20130566\u20135566\u20135556", "is a part of a longer id, with dashes"],
  ["4242    4242    4242    4242", "is four numbers"],
  ["4242 4 2424 2424242", "is grouped as no card is"],
  ["42424242424 24242", "is grouped as no card is"],
  ["4242§424242424242", "has a sign in it"],
  ["42424242424242㊷", "ends in a sign that is no digit"],
  ["4000-0566-5566-5556ab", "is a part of a longer id"],
  ["1-3782-822463-10005", "is a part of a longer id"],
  ["3782-822463-10005-1", "is a part of a longer id"],
  ["a4242424242424242bcdef01", "is a part of an ObjectId"],
  ["00-4bf92f3577b34da6a3ce929d0e0e4736-abc3782822463100-05", "is a part of a trace and its flags"],
  ["a4242424242424242bcdef0123456789", "is a part of a UUID without hyphens"],
  [`a4242424242424242${"b".repeat(111)}`, "is a part of a SHA-512"],
  ["00-a4242424242424242bcdef0123456789-00f067aa0ba902b7-01", "is a part of a trace"],
  ["00-4bf92f3577b34da6a3ce929d0e0e4736-4242424242424242-01", "is a span of a trace"],
  ["4bf92f3577b34da6a3ce929d0e0e4736-4242424242424242-1", "is a span behind its trace alone"],
  ["4242 4242 4242 7b3f9c2ae41d4f889b2a1c0d5e6f7a8b 4242", "has an identifier in it"],
  ["0.4242424242424242", "is a fraction"],
  ["4242.424242424242", "is a decimal"],
  ["378 2822 4631 0005", "is grouped as no card is"],
  ["4136003810080", "is an EAN, though a Visa card of 13 digits could have it"],
  ["CH4758517812865707049", "is an IBAN"],
  ["DE65 4242 4242 4242 4242 00 for rent", "is an IBAN, printed"],
  ["my rent to DE65 4242 4242 4242 4242 00.", "is an IBAN in a sentence"],
  ["2026-11-29T12:00:00.000Z", "is a time"],
  ["4111 1111", "is short"],
  ["order-1001", "is an order number"],
])("%s is not: it %s", (text) => {
  expect(containsCardNumber(text)).toBe(false);
});

test.each([
  ["one digit more than a UUID has", "4242424242424242aaaaaaaaaaaaaaaaa"],
  ["one more than a span has", "4bf92f3577b34da6a3ce929d0e0e4736-4242424242424242x"],
  ["an account number behind it", "4242424242424242 DE65424242424242424200"],
  ["an account number's form and not its check digits", "DE66 4242 4242 4242 4242 00"],
  ["an account number before it", "DE65424242424242424200 4242424242424242"],
  ["a full stop behind it", "4242 4242 4242 4242. Thanks"],
  ["six digits in its second of two groups", "4242424242 424242"],
  ["a sign behind it", "4242-4242-4242-4242§"],
  ["a brace behind a joint", "4242-4242-4242-4242-{"],
  ["an Arabic percent sign behind it", "4242-4242-4242-4242\u066a"],
])("a card number with %s is one all the same", (_what, text) => {
  expect(containsCardNumber(text)).toBe(true);
});

const hash = (text: string, length: number) =>
  createHash("sha256").update(text).digest("hex").slice(0, length);

/** How many of so many are taken for card numbers, in percent. */
function share(
  count: number,
  make: (digits: (length: number) => string) => string,
  seed = SEED,
): number {
  let drawn = 0;
  // Without the first, which is not as likely to be a 9 as to be a 1.
  const digits = (length: number) =>
    String(BigInt(`0x${hash(`${seed} ${drawn++}`, 64)}`)).slice(1, 1 + length);
  const taken = Array.from({ length: count }, () => make(digits)).filter(containsCardNumber);
  return (100 * taken.length) / count;
}

// A tenth of all numbers pass the Luhn check, and Visa and Mastercard alone have a fifth of those of
// 16 digits: 2 %, which is 0.3 % of all. By the ranges it is 0.44 %; the sample is the same each time,
// because another one would exceed the limit now and then.
test("of random numbers of 13 to 19 digits, fewer than 0.5 % are taken for cards", () => {
  let made = 0;
  const taken = share(70_000, (digits) => digits(13 + (made++ % 7)), 1);
  expect(taken).toBeGreaterThan(0.4);
  expect(taken).toBeLessThan(0.5);
});

const ean = (twelve: string) => {
  const sum = [...twelve].reduce((total, digit, i) => total + Number(digit) * (i % 2 ? 3 : 1), 0);
  return twelve + String((10 - (sum % 10)) % 10);
};
const iban = (country: string, account: string) => {
  const letters = [...country].map((letter) => Number.parseInt(letter, 36)).join("");
  const check = 98n - (BigInt(`${account}${letters}00`) % 97n);
  return country + String(check).padStart(2, "0") + account;
};
const at = (digits: string) => new Date(1e12 + Math.floor(Number(digits) * 0.9)); // until 2030

test.each<[what: string, make: (digits: (length: number) => string) => string]>([
  ["time in ms", (digits) => String(at(digits(12)).getTime())],
  ["time in µs", (digits) => `${at(digits(12)).getTime()}${digits(3)}`],
  ["time of 14 digits", (d) => at(d(12)).toISOString().replaceAll(/\D/g, "").slice(0, 14)],
  ["time in ISO 8601", (digits) => at(digits(12)).toISOString()],
  ["UUID without hyphens", (digits) => hash(digits(20), 32)],
  ["UUID", (d) => hash(d(20), 32).replace(/(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-")],
  ["ObjectId", (digits) => hash(digits(20), 24)],
  ["SHA-1 in capitals", (digits) => hash(digits(20), 40).toUpperCase()],
  ["SHA-256", (digits) => hash(digits(20), 64)],
  ["trace", (digits) => `00-${hash(digits(20), 32)}-${hash(digits(20), 16)}-01`],
  ["EAN", (digits) => ean(digits(12))],
  ["German EAN", (digits) => ean(`4${digits(11)}`)],
  ["German IBAN", (digits) => iban("DE", digits(18))],
  ["Swiss IBAN", (digits) => iban("CH", digits(17))],
  ["printed German IBAN", (d) => iban("DE", d(18)).replaceAll(/.{4}(?=.)/g, "$& ")],
  ["printed Polish IBAN", (d) => iban("PL", d(24)).replaceAll(/.{4}(?=.)/g, "$& ")],
  ["longest IBAN, printed", (d) => iban("MT", d(30)).replaceAll(/.{4}(?=.)/g, "$& ")],
  ["decimal", (digits) => `0.${digits(16)}`],
])("no %s is taken for a card number", (_what, make) => {
  expect(share(10_000, make)).toBe(0);
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
  "card_verification_code".padEnd(40, "_"),
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
  "card_verification_code".padEnd(41, "_"),
])("a field called %s would not", (name) => {
  expect(namesSecurityCode(name)).toBe(false);
});
