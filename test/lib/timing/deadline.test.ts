import { expect, test } from "vitest";

import { timeLeftMs } from "../../../lib/timing/deadline.ts";

const timings = { callTimeoutMs: 3_000, deadlineReserveMs: 5_000 };

test.each([
  [60_000, 3_000],
  [8_000, 3_000],
  [7_999, 2_999],
  [5_001, 1],
  [5_000, 1],
  [-40_000, 1],
])("with %i ms of the invocation left, a call to the table gets %i ms", (remaining, expected) => {
  expect(timeLeftMs(timings, { remainingMs: () => remaining })).toBe(expected);
});
