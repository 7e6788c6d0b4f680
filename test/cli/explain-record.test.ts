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
  const { state, lines } = explainRecord(record, WORKER_TIMINGS, NOW, (id) => `see ${id}`);
  return { state, ...Object.fromEntries(lines) } as Record<string, string>;
}

test("a claim that is held: who has it, until when, and what happens if they die", () => {
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

test("what Stripe rejected is mended before it is redriven, as dlq says", () => {
  const lastError = {
    kind: "stripe_rejected",
    code: "resource_missing",
    param: "customer",
  } as const;
  const rejected = explain({ leaseExpiresAt: 0, lastError });
  const died = explain({ leaseExpiresAt: NOW - 1_000 });

  expect(rejected["next"]).toContain(
    "in the dead-letter queue (payments dlq): Mend at Stripe what it names and redrive; if it comes back the same,",
  );
  expect(died["next"]).toContain(
    "in the dead-letter queue (payments dlq): See the function's log, then redrive. If it is gone,",
  );
});

test("a decline whose two codes are the same is told once", () => {
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
