import { expect, test } from "vitest";

import { describeOutcome, explainRecord } from "../../cli/explain/explain-record.ts";
import type { IdempotencyRecord } from "../../lib/payments/record.ts";
import { WORKER_TIMINGS } from "../support/timings.ts";

const NOW = Date.parse("2026-11-29T12:00:00Z");

const CLAIM: IdempotencyRecord = {
  messageId: "order-1",
  status: "IN_PROGRESS",
  owner: "o-1",
  leaseExpiresAt: NOW + 30_000,
  attempt: 2,
  firstClaimedAt: NOW - 90_000,
  fingerprint: "f",
  expiresAt: NOW / 1_000 + 3_000_000,
};

function explain(changes: Partial<IdempotencyRecord>) {
  const record = { ...CLAIM, ...changes };
  const { state, next, lines } = explainRecord(record, WORKER_TIMINGS, NOW, (id) => `see ${id}`);
  return { state, next, ...Object.fromEntries(lines) } as Record<string, string>;
}

test("a claim under a live lease: who has it, until when, and what happens if they die", () => {
  const text = explain({});

  expect(text).toMatchObject({
    state: "in_progress",
    outcome: "none yet: attempt 2 is running",
    "first claimed": "2026-11-29 11:58:30 UTC (90 s ago)",
    lease: "until 2026-11-29 12:00:30 UTC (in 30 s), owner o-1",
  });
  expect(text["next"]).toMatch(
    /or its lease expires and attempt 3 takes over and charges with the/,
  );
});

test("a claim that expired without a release: its worker died", () => {
  const text = explain({ leaseExpiresAt: NOW - 1_000 });

  expect(text["state"]).toBe("expired");
  expect(text["lease"]).toMatch(/^expired 2026-11-29 11:59:59 UTC \(1 s ago\): the worker died/);
});

test("after the key window, the next attempt looks at Stripe before it charges", () => {
  const before = explain({ leaseExpiresAt: 0, firstClaimedAt: NOW - 23 * 3_600_000 + 1 });
  const after = explain({ leaseExpiresAt: 0, firstClaimedAt: NOW - 23 * 3_600_000 });

  expect(before["next"]).toContain("charges with the same key");
  expect(after["next"]).toContain("looks at Stripe before it charges");
});

test.each([
  ["succeeded", /^nothing\. A further delivery is acknowledged as a duplicate until 2027-01-03/],
  ["processing", /^nothing here: it is not paid yet, which may take days/],
  ["requires_action", /^nothing here: the customer has to authenticate/],
  ["canceled", /^nothing: it was canceled at Stripe, and a new try is a new message/],
] as const)("what comes next after %s", (result, next) => {
  const text = explain({ outcome: { result, paymentIntentId: "pi_1" } });

  expect(text).toMatchObject({ state: "completed", PaymentIntent: "see pi_1" });
  expect(text["next"]).toMatch(next);
});

test("a decline whose two codes are the same shows the code once", () => {
  const declined = { result: "declined", code: "card_declined", declineCode: "lost_card" } as const;

  expect(describeOutcome(declined)).toBe("declined (card_declined, lost_card)");
  expect(
    describeOutcome({
      result: "declined",
      code: "authentication_required",
      declineCode: "authentication_required",
    }),
  ).toBe("declined (authentication_required)");
});
