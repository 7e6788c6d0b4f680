// The decoder against rules that are stated here a second time, without its own code: whatever
// comes, it does not throw, and nothing passes that the rules of the message do not allow.

import { expect, test } from "vitest";

import { decodeMessage } from "../lib/message.ts";
import { DEFAULT_WORKER_TIMINGS } from "../lib/timing.ts";

const NOW = Date.parse("2026-11-29T12:00:00Z");

test.each([50, 3_000, 5_000, 100_000])(
  "a body nested %i levels deep is refused, and throws nothing",
  (levels) => {
    const good = `"id":"order-1","createdAt":"2026-11-29T11:59:00Z","amount":80,"currency":"jpy","customer":"cus_a","paymentMethod":"pm_a"`;
    const deep = [
      `${"[".repeat(levels)}${"]".repeat(levels)}`,
      `${'{"a":'.repeat(levels)}1${"}".repeat(levels)}`,
    ];

    for (const value of deep) {
      const decoded = decodeMessage(`{${good},"extra":${value}}`, NOW, DEFAULT_WORKER_TIMINGS);
      expect(decoded.kind).toBe("refused");
    }
  },
);
