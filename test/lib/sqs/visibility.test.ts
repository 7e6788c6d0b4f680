import { expect, test } from "vitest";

import type { Disposition } from "../../../lib/sqs/delivery.ts";
import { retryDelaySeconds } from "../../../lib/sqs/visibility.ts";

const NOW = 1_795_953_600_000;
const BACKOFF = { backoffBaseMs: 30_000, backoffCapMs: 900_000 };

const delay = (disposition: Disposition, receiveCount = 1, random = 0.5) =>
  retryDelaySeconds(disposition, receiveCount, BACKOFF, NOW, random);

test.each([
  [1, 15, 30],
  [2, 30, 60],
  [5, 240, 480],
  [6, 450, 900],
  [14, 450, 900],
  [2_000, 450, 900],
])("after receive %i a backoff takes from %i to %i s", (receiveCount, least, most) => {
  const disposition = { kind: "backoff" } as const;

  expect([0, 0.999_999].map((random) => delay(disposition, receiveCount, random))).toEqual([
    least,
    most,
  ]);
});

test.each([
  [NOW + 41_000, 41],
  [NOW + 41_001, 42],
  [NOW, 1],
  [NOW - 5_000, 1],
  [NOW + 365 * 86_400_000, 42_000], // as long as SQS takes: 12 h less what a receive may have used
])("a delivery for %i comes back then", (time, seconds) => {
  expect(delay({ kind: "at", time })).toBe(seconds);
});

test("a dead letter does not wait, and what is acknowledged does not come back", () => {
  expect(delay({ kind: "dead-letter" }, 3)).toBe(0);
  expect(delay({ kind: "acknowledge" })).toBeUndefined();
});
