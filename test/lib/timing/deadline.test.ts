import { expect, test } from "vitest";

import { createDeadline } from "../../../lib/timing/deadline.ts";

const timings = { callTimeoutMs: 3_000, stripeTimeoutMs: 20_000, deadlineReserveMs: 5_000 };

test.each([
  { remaining: 60_000, fits: true, table: 3_000, stripe: 20_000 },
  { remaining: 31_000, fits: true, table: 3_000, stripe: 20_000 }, // 3 + 20 + 3 + 5 s
  { remaining: 30_999, fits: false, table: 3_000, stripe: 20_000 },
  { remaining: 27_999, fits: false, table: 3_000, stripe: 19_999 },
  { remaining: 8_000, fits: false, table: 3_000, stripe: 0 },
  { remaining: 7_999, fits: false, table: 2_999, stripe: -1 },
  { remaining: 5_000, fits: false, table: 1, stripe: -3_000 },
  { remaining: -40_000, fits: false, table: 1, stripe: -48_000 },
])("with $remaining ms left: $fits, $table for the table, $stripe for Stripe", (expected) => {
  const { remaining, fits, table, stripe } = expected;

  const deadline = createDeadline(timings, () => remaining);

  expect(deadline.remainingMs()).toBe(remaining);
  expect(deadline.fitsDelivery()).toBe(fits);
  expect(deadline.tableCallMs()).toBe(table);
  expect(deadline.stripeCallMs()).toBe(stripe);
});
