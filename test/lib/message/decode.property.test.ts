// The decoder against rules that are stated here a second time, without its own code: whatever
// comes, it does not throw, and nothing passes that the rules of the message do not allow. What is
// valid or no message at all: test/lib/payments/reaches-stripe.property.test.ts

import fc from "fast-check";
import { expect, test } from "vitest";

import { decodeMessage } from "../../../lib/message/decode.ts";
import { SEED } from "../../support/seed.ts";
import { WORKER_TIMINGS } from "../../support/timings.ts";
import { alteredMessage, NOW, validMessage, write } from "./generators.ts";
import { verdict } from "./oracle.ts";
import { STRANGE_NUMBERS } from "./strange.ts";

/** What the decoder would have charged, or undefined for what is invalid. */
function decoded(body: string): unknown {
  const result = decodeMessage(body, NOW, WORKER_TIMINGS);
  if (result.kind === "invalid") return undefined;
  const { id, sentAt, payment } = result.message;
  return { id, sentAt, payment };
}

test("a message that was altered in one place is accepted exactly when it is still valid", () => {
  fc.assert(
    fc.property(alteredMessage, (message) => {
      const body = write(message);

      expect(decoded(body)).toEqual(verdict(body, NOW));
    }),
    { seed: SEED, numRuns: 3_000 },
  );
});

test("no damage to a message makes the decoder accept what is invalid", () => {
  const damage = fc.tuple(
    fc.nat(),
    fc.nat({ max: 3 }),
    fc.oneof(fc.string({ maxLength: 3 }), fc.constantFrom('"', "{", "}", ",", ":", "\\", "0", "e")),
  );
  fc.assert(
    fc.property(validMessage, damage, (message, [at, length, replacement]) => {
      const text = write(message);
      const start = at % text.length;
      const body = text.slice(0, start) + replacement + text.slice(start + length);

      // A key given twice is invalid here, where JSON.parse takes the last.
      expect([undefined, verdict(body, NOW)]).toContainEqual(decoded(body));
    }),
    { seed: SEED, numRuns: 1_500 },
  );
});

test("an amount is taken as it is written, or invalid: never scaled, rounded or guessed", () => {
  const digits = fc.string({ unit: fc.constantFrom(..."0123456789"), minLength: 1, maxLength: 20 });
  const literal = fc.oneof(
    fc.constantFrom(...STRANGE_NUMBERS),
    digits,
    fc.integer({ min: 999_999_999_990, max: 1_000_000_000_010 }).map(String),
    fc.double({ noNaN: true, noDefaultInfinity: true }).map(String),
    fc
      .tuple(digits, fc.constantFrom(".", "e", "E", "e-", ".0e"), digits)
      .map((parts) => parts.join("")),
    digits.map((text) => JSON.stringify(text)),
  );
  fc.assert(
    fc.property(literal, (amount) => {
      const body = `{"id":"order-1","createdAt":"2026-11-29T11:59:00Z","currency":"jpy","customer":"cus_a","paymentMethod":"pm_a","amount":${amount}}`;

      const accepted = decoded(body) as { payment: { amount: number } } | undefined;

      const written = /^[1-9][0-9]{0,11}$/.test(amount);
      expect(accepted === undefined ? "invalid" : String(accepted.payment.amount)).toBe(
        written ? amount : "invalid",
      );
    }),
    { seed: SEED, numRuns: 1_500 },
  );
});
