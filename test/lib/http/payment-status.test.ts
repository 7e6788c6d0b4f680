import { expect, test } from "vitest";

import { isOpen, paymentStatus } from "../../../lib/http/payment-status.ts";
import type { IdempotencyRecord, Outcome } from "../../../lib/payments/record.ts";
import { claimed } from "../../support/record.ts";

const RECORD = claimed({ messageId: "alice/order-1" });
const pi = { paymentIntentId: "pi_1" };
const after = (outcome: Outcome, more = {}) => ({ outcome, revision: 2, ...more });
const DECLINE = { code: "card_declined", declineCode: "lost_card" };
const REJECTED = { kind: "stripe_rejected", code: "resource_missing" } as const;

test.each<[Partial<IdempotencyRecord>, status: object, open: boolean]>([
  [{ attempt: 0 }, { status: "accepted", revision: 0 }, true],
  [{}, { status: "working", revision: 0 }, true],
  [
    { leaseExpiresAt: 9, amount: 1250, currency: "eur" },
    { status: "working", revision: 0, amount: 1250, currency: "eur" },
    true,
  ],
  [{ lastError: { kind: "deadline" } }, { status: "working", revision: 0 }, true],
  [{ lastError: REJECTED }, { status: "rejected", revision: 0, code: "resource_missing" }, false],
  [{ lastError: { kind: "stripe_rejected" } }, { status: "rejected", revision: 0 }, false],
  // A worker has begun again.
  [{ lastError: REJECTED, leaseExpiresAt: 9 }, { status: "working", revision: 0 }, true],
  ...(["succeeded", "canceled", "processing", "requires_action"] as const).map(
    (result): [Partial<IdempotencyRecord>, object, boolean] => [
      after({ result, ...pi }),
      { status: result, revision: 2, ...pi },
      result === "processing" || result === "requires_action",
    ],
  ),
  [
    after({ result: "declined", ...DECLINE }),
    { status: "declined", revision: 2, ...DECLINE },
    false,
  ],
  [
    after({ result: "failed", ...pi, code: "debit_not_authorized" }),
    { status: "failed", revision: 2, ...pi, code: "debit_not_authorized" },
    false,
  ],
])("a client reads %j as %j", (changes, status, open) => {
  const read = paymentStatus("order-1", { ...RECORD, ...changes });

  expect(read).toStrictEqual({ id: "order-1", ...status });
  expect(isOpen(read)).toBe(open);
});
