import { expect, test } from "vitest";

import { agreementOf } from "../../cli/explain/agreement.ts";
import type { Truth } from "../../cli/explain/agreement.ts";
import type { Outcome } from "../../lib/payments/record.ts";

const paid = (id: string): Truth => ({
  paymentIntentId: id,
  status: "succeeded",
  outcome: { result: "succeeded", paymentIntentId: id },
});
const declined = (id: string): Truth => ({
  paymentIntentId: id,
  status: "requires_payment_method",
  outcome: { result: "declined", paymentIntentId: id, code: "card_declined" },
});
const canceled: Truth = { paymentIntentId: "pi_1", status: "canceled" };
const recorded = (outcome: Outcome) => ({ outcome });
const SUCCEEDED = recorded({ result: "succeeded", paymentIntentId: "pi_1" });
const PROCESSING = recorded({ result: "processing", paymentIntentId: "pi_1" });
const DECLINED = recorded({ result: "declined", paymentIntentId: "pi_1", code: "card_declined" });

test.each<[string, { outcome?: Outcome } | undefined, Truth[], string]>([
  ["paid and recorded", SUCCEEDED, [paid("pi_1")], "agree"],
  ["declined and recorded", DECLINED, [declined("pi_1")], "agree"],
  ["declined without a PaymentIntent", recorded({ result: "declined", code: "c" }), [], "agree"],
  ["neither", undefined, [], "nothing"],
  ["a claim, and nothing at Stripe", {}, [], "nothing"],
  ["a claim, and a PaymentIntent that was canceled", {}, [canceled], "nothing"],
  ["paid without a record", undefined, [paid("pi_1")], "not_recorded"],
  ["declined without an outcome", {}, [declined("pi_1")], "not_recorded"],
  ["a bank debit that arrived", PROCESSING, [paid("pi_1")], "moved_on"],
  ["a bank debit that failed", PROCESSING, [declined("pi_1")], "moved_on"],
  ["recorded as paid, canceled at Stripe", SUCCEEDED, [canceled], "different"],
  ["recorded as declined, paid at Stripe", DECLINED, [paid("pi_1")], "different"],
  [
    "recorded as declined, paid by another",
    DECLINED,
    [declined("pi_1"), paid("pi_2")],
    "different",
  ],
  ["recorded, and not at Stripe", SUCCEEDED, [], "not_at_stripe"],
  ["paid twice, recorded once", SUCCEEDED, [paid("pi_1"), paid("pi_2")], "charged_twice"],
  ["paid twice, never recorded", undefined, [paid("pi_1"), paid("pi_2")], "charged_twice"],
])("%s", (_, record, truths, kind) => {
  expect(agreementOf(record, truths).kind).toBe(kind);
});

test("of a decline and a payment, the payment is what is not recorded", () => {
  const agreement = agreementOf(undefined, [declined("pi_1"), paid("pi_2")]);

  expect(agreement).toMatchObject({ kind: "not_recorded", truth: { paymentIntentId: "pi_2" } });
});
