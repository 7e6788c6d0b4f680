import { expect, test } from "vitest";

import type { IdempotencyRecord } from "../../../lib/payments/record.ts";
import type { StripeState } from "../../../lib/reconcile/comparison.ts";
import { findingOf, unrecordedState } from "../../../lib/reconcile/finding.ts";

const NOW = Date.parse("2026-11-29T12:00:00Z");
const PAID = { result: "succeeded", paymentIntentId: "pi_1" } as const;

const CLAIM: IdempotencyRecord = {
  messageId: "order-1",
  status: "IN_PROGRESS",
  owner: "dead",
  leaseExpiresAt: NOW,
  attempt: 3,
  firstClaimedAt: NOW - 60_000,
  fingerprint: "f",
  expiresAt: 1_799_000_000,
};
const COMPLETED: IdempotencyRecord = { ...CLAIM, status: "COMPLETED", outcome: PAID };

const MINE = { messageId: "order-1", customer: "cus_ada", amount: 1_200, currency: "eur" };
const paid = (paymentIntentId: string, created = NOW - 50_000): StripeState => ({
  ...MINE,
  paymentIntentId,
  status: "succeeded",
  created,
  outcome: { result: "succeeded", paymentIntentId },
});
const declined: StripeState = {
  ...MINE,
  paymentIntentId: "pi_0",
  status: "requires_payment_method",
  created: NOW - 55_000,
  outcome: { result: "declined", paymentIntentId: "pi_0", code: "card_declined" },
};

test.each<[string, IdempotencyRecord | undefined, StripeState[]]>([
  ["what a worker has recorded meanwhile", COMPLETED, [paid("pi_1")]],
  ["a claim under a live lease", { ...CLAIM, leaseExpiresAt: NOW + 1 }, [paid("pi_1")]],
  ["a message that neither side has", undefined, []],
])("%s is no finding", (_, record, states) => {
  expect(findingOf("order-1", record, states, NOW)).toBeUndefined();
});

test("a claim that nobody holds, and nothing at Stripe, is stuck", () => {
  const finding = { messageId: "order-1", kind: "open", atStripe: [] };

  expect(findingOf("order-1", CLAIM, [], NOW)).toEqual(finding);
});

test("what was created five minutes before the claim is its own, and anything earlier is another payment's", () => {
  const own = paid("pi_1", NOW - 360_000);
  const another = paid("pi_2", NOW - 360_001);

  expect(findingOf("order-1", CLAIM, [own, another], NOW)).toEqual({
    messageId: "order-1",
    kind: "not_recorded",
    atStripe: [own],
  });
  expect(findingOf("order-1", CLAIM, [another], NOW)).toMatchObject({ kind: "open" });
});

test("a lease protects a claim, and no completed record", () => {
  const record = { ...COMPLETED, leaseExpiresAt: NOW + 1 };

  expect(findingOf("order-1", record, [], NOW)).toMatchObject({ kind: "not_at_stripe" });
});

test("a completed record is compared with everything that Stripe has, however old", () => {
  const states = [paid("pi_1"), paid("pi_2", NOW - 360_001)];

  expect(findingOf("order-1", COMPLETED, states, NOW)).toEqual({
    messageId: "order-1",
    kind: "charged_twice",
    recorded: PAID,
    atStripe: states,
  });
});

test("of a decline and a payment, the payment is to be recorded; of another finding, nothing", () => {
  const unrecorded = findingOf("order-1", undefined, [declined, paid("pi_1")], NOW);
  const different = findingOf("order-1", COMPLETED, [paid("pi_2")], NOW);

  expect(unrecorded && unrecordedState(unrecorded)).toEqual(paid("pi_1"));
  expect(different).toMatchObject({ kind: "different" });
  expect(different && unrecordedState(different)).toBeUndefined();
});
