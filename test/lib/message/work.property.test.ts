// What a hostile body costs: counted in characters, so that a busy machine changes nothing.

import fc from "fast-check";
import { expect, test } from "vitest";

import { decodeMessage } from "../../../lib/message/decode.ts";
import { SEED } from "../../support/seed.ts";
import { WORKER_TIMINGS } from "../../support/timings.ts";

const NOW = Date.parse("2026-11-29T12:00:00Z");

type Work = {
  /** Characters read one by one, and those of every string that a built-in method worked on. */
  characters: number;
  /** The longest string that a regular expression got. */
  matched: number;
  /** The longest string that was normalized. */
  normalized: number;
};

const ONE_CHARACTER = new Set(["charCodeAt", "codePointAt", "charAt", "at"]);

/** Counts what the run does with strings, by standing in for their methods meanwhile. */
function workOf(run: () => void): Work {
  const work: Work = { characters: 0, matched: 0, normalized: 0 };
  const restore: (() => void)[] = [];
  const replace = (prototype: object, name: string | symbol, count: (self: string) => void) => {
    const original = Object.getOwnPropertyDescriptor(prototype, name);
    const method = original?.value as (this: unknown, ...args: unknown[]) => unknown;
    if (!original || typeof method !== "function" || name === "constructor") return;
    restore.push(() => void Object.defineProperty(prototype, name, original));
    const counted = function (this: unknown, ...args: unknown[]) {
      count(String(prototype === RegExp.prototype ? args[0] : this));
      return Reflect.apply(method, this, args);
    };
    Object.defineProperty(prototype, name, { ...original, value: counted });
  };

  // Every other method of a regular expression, and each of a string that takes one, calls this.
  replace(RegExp.prototype, "exec", ({ length }) => {
    work.characters += length;
    work.matched = Math.max(work.matched, length);
  });
  for (const name of Reflect.ownKeys(String.prototype)) {
    if (name === "toString" || name === "valueOf" || name === "length") continue;
    const cost = (length: number) =>
      ONE_CHARACTER.has(String(name)) ? 1 : name === "slice" ? Math.min(length, 130) : length;
    replace(String.prototype, name, ({ length }) => {
      work.characters += cost(length);
      if (name === "normalize") work.normalized = Math.max(work.normalized, length);
    });
  }
  try {
    run();
  } finally {
    for (const undo of restore) undo();
  }
  return work;
}

const PAYMENT = {
  id: "order-1001",
  createdAt: "2026-11-29T11:59:00Z",
  amount: 1200,
  currency: "eur",
  customer: "cus_ada",
  paymentMethod: "pm_visa",
};

const sns = (message: string) => JSON.stringify({ Type: "Notification", Message: message });
const eventBridge = (message: string) => `{"detail-type":"Payment","detail":${message}}`;

/** What a body is filled with, so many times. */
const FILLINGS: Record<string, (times: number) => string> = {
  "combining marks": (times) => text("a" + "\u0300\u0316".repeat(times)),
  "combining marks in a key": (times) =>
    JSON.stringify({ ...PAYMENT, metadata: { ["\u0300\u0316".repeat(times)]: "x" } }),
  "every character": (times) =>
    text(String.fromCodePoint(...Array.from({ length: times }, (_, i) => 0x20 + (i % 0xd000)))),
  emoji: (times) => text("😀".repeat(times)),
  digits: (times) => text("4".repeat(times)),
  "digits with blanks": (times) => text("4444 ".repeat(times)),
  "digits with hyphens": (times) => text("444-".repeat(times)),
  "nearly cards": (times) => text("4242424242424241 ".repeat(times)),
  "hashes with cards": (times) => text("a4242424242424242bcdef01 ".repeat(times)),
  "account numbers with cards": (times) => text("DE65 4242 4242 4242 4242 00 ".repeat(times)),
  letters: (times) => text("DE65".repeat(times)),
  "hexadecimal digits": (times) => text("a4242424242424242".repeat(times)),
  escapes: (times) => text('"\\'.repeat(times)),
  "a number": (times) => JSON.stringify(PAYMENT).replace("1200", "9".repeat(times)),
  "a sender's time": (times) => JSON.stringify({ ...PAYMENT, createdAt: "2".repeat(times) }),
  "an id": (times) => JSON.stringify({ ...PAYMENT, id: "4".repeat(times) }),
  "a name": (times) => JSON.stringify({ ...PAYMENT, ["c".repeat(times)]: 1 }),
  keys: (times) =>
    JSON.stringify({
      ...PAYMENT,
      metadata: Object.fromEntries(Array.from({ length: times }, (_, i) => [`k${i}`, "4242"])),
    }),
  arrays: (times) => nested("[", "]", times),
  objects: (times) => nested('{"a":', "1}", times),
  "keys of a key": (times) => nested(`{"${"a".repeat(60)}":`, "1}", times),
  "attributes that nobody reads": (times) =>
    JSON.stringify({
      specversion: "1.0",
      id: "order-1001",
      time: PAYMENT.createdAt,
      data: PAYMENT,
      traceparent: "4".repeat(times),
      extension: "\u0300\u0316".repeat(times),
    }),
  "a BabelQueue job": (times) =>
    JSON.stringify({ job: " ".repeat(times), meta: {}, data: PAYMENT, trace_id: "x" }),
};

function text(description: string): string {
  return JSON.stringify({ ...PAYMENT, description });
}
function nested(open: string, close: string, times: number): string {
  return JSON.stringify(PAYMENT).replace("}", `,"x":${open.repeat(times)}${close.repeat(times)}}`);
}

const wrappings = fc.array(fc.constantFrom(sns, eventBridge), { maxLength: 3 });
const times = fc.oneof(fc.constantFrom(10, 100, 1_000), fc.integer({ min: 1, max: 50_000 }));

test.each(Object.entries(FILLINGS))(
  "a body full of %s costs no more than its length allows, also in three wrappings",
  (_what, fill) => {
    fc.assert(
      fc.property(times, wrappings, (count, layers) => {
        const body = layers.reduce((message, wrap) => wrap(message), fill(count));

        const { characters, matched, normalized } = workOf(() => {
          decodeMessage(body, NOW, WORKER_TIMINGS);
        });

        // Parsed in four layers, and part of up to five numbers that are checked digit by digit.
        expect(characters / (body.length + 1_000)).toBeLessThan(150);
        expect(matched).toBeLessThanOrEqual(2_000);
        expect(normalized).toBeLessThanOrEqual(2);
      }),
      { seed: SEED, numRuns: 12, endOnFailure: true },
    );
  },
);

test.each(Object.entries(FILLINGS))(
  "a body of 1 MiB full of %s is invalid at no cost at all",
  (_what, fill) => {
    const body = fill(100).padEnd(1_048_576);
    let decoded;

    const { characters } = workOf(() => {
      decoded = decodeMessage(body, NOW, WORKER_TIMINGS);
    });

    expect(decoded).toEqual({ kind: "invalid", violation: { field: "body", rule: "body_length" } });
    expect(characters).toBe(0);
  },
);
