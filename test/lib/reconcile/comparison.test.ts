import { expect, test } from "vitest";

import type { Outcome } from "../../../lib/payments/record.ts";
import { compareWithStripe } from "../../../lib/reconcile/comparison.ts";
import type { StripeState } from "../../../lib/reconcile/comparison.ts";

const MONEY = { amount: 1_200, currency: "eur" };
const atStripe = (status: string, outcome?: Outcome): StripeState => ({
  ...MONEY,
  paymentIntentId: outcome?.paymentIntentId ?? "pi_1",
  status,
  created: 0,
  ...(outcome && { outcome }),
});
const paid = (paymentIntentId: string) =>
  atStripe("succeeded", { result: "succeeded", paymentIntentId });
const processing = (paymentIntentId: string) =>
  atStripe("processing", { result: "processing", paymentIntentId });
const declined = (paymentIntentId: string) =>
  atStripe("requires_payment_method", {
    result: "declined",
    paymentIntentId,
    code: "card_declined",
  });
const canceled = atStripe("canceled", { result: "canceled", paymentIntentId: "pi_1" });
const authorized = atStripe("requires_capture");
const recorded = (outcome: Outcome) => ({ outcome });
const FAILED = recorded({ result: "failed", paymentIntentId: "pi_1", code: "debit_failed" });
const SUCCEEDED = recorded({ result: "succeeded", paymentIntentId: "pi_1" });
const PROCESSING = recorded({ result: "processing", paymentIntentId: "pi_1" });
const ACTION = recorded({ result: "requires_action", paymentIntentId: "pi_1" });
const DECLINED = recorded({ result: "declined", paymentIntentId: "pi_1", code: "card_declined" });

test.each<[string, Parameters<typeof compareWithStripe>[0], StripeState[], string]>([
  ["paid and recorded", SUCCEEDED, [paid("pi_1")], "agree"],
  ["paid and recorded with its amount", { ...SUCCEEDED, ...MONEY }, [paid("pi_1")], "agree"],
  ["another amount", { ...SUCCEEDED, ...MONEY, amount: 1_201 }, [paid("pi_1")], "amount_differs"],
  [
    "another currency",
    { ...SUCCEEDED, ...MONEY, currency: "usd" },
    [paid("pi_1")],
    "amount_differs",
  ],
  ["declined and recorded", DECLINED, [declined("pi_1")], "agree"],
  ["declined without a PaymentIntent", recorded({ result: "declined", code: "c" }), [], "agree"],
  ["paid at the second try", SUCCEEDED, [declined("pi_0"), paid("pi_1")], "agree"],
  ["recorded as paid, another one declined", SUCCEEDED, [declined("pi_2")], "not_at_stripe"],
  ["neither", undefined, [], "nothing"],
  ["a claim, and nothing at Stripe", {}, [], "nothing"],
  ["a claim, and a PaymentIntent that was canceled", {}, [canceled], "not_recorded"],
  ["a claim, and a PaymentIntent that is no outcome", {}, [authorized], "nothing"],
  ["recorded as paid, authorized at Stripe", SUCCEEDED, [authorized], "different"],
  ["a bank debit that failed, and is recorded so", FAILED, [declined("pi_1")], "agree"],
  ["a failed one that the customer paid after all", FAILED, [paid("pi_1")], "advanced"],
  ["a failed one that is processing again", FAILED, [processing("pi_1")], "different"],
  ["paid without a record", undefined, [paid("pi_1")], "not_recorded"],
  ["declined without an outcome", {}, [declined("pi_1")], "not_recorded"],
  ["a bank debit that arrived", PROCESSING, [paid("pi_1")], "advanced"],
  ["an action that was taken, for a bank debit", ACTION, [processing("pi_1")], "advanced"],
  ["a bank debit that failed", PROCESSING, [declined("pi_1")], "advanced_unpaid"],
  ["a bank debit that bounced", PROCESSING, [{ ...paid("pi_1"), ...FAILED }], "advanced_unpaid"],
  ["a bank debit that was canceled", PROCESSING, [canceled], "advanced_unpaid"],
  ["an action that was never taken", ACTION, [canceled], "advanced_unpaid"],
  ["recorded as paid, canceled at Stripe", SUCCEEDED, [canceled], "different"],
  ["recorded as declined, paid at Stripe", DECLINED, [paid("pi_1")], "advanced"],
  [
    "recorded as declined, paid by another",
    DECLINED,
    [declined("pi_1"), paid("pi_2")],
    "different",
  ],
  ["recorded, and not at Stripe", SUCCEEDED, [], "not_at_stripe"],
  ["paid twice, recorded once", SUCCEEDED, [paid("pi_1"), paid("pi_2")], "charged_twice"],
  [
    "paid, and once more by a bank debit",
    SUCCEEDED,
    [paid("pi_1"), processing("pi_2")],
    "charged_twice",
  ],
  ["paid twice, never recorded", undefined, [paid("pi_1"), paid("pi_2")], "charged_twice"],
])("%s", (_, record, states, kind) => {
  expect(compareWithStripe(record, states).kind).toBe(kind);
});

test("of a decline and a payment, the payment is what is not recorded", () => {
  const comparison = compareWithStripe(undefined, [declined("pi_1"), paid("pi_2")]);

  expect(comparison).toMatchObject({ kind: "not_recorded", state: { paymentIntentId: "pi_2" } });
});
