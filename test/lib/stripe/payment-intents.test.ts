import type { Stripe } from "stripe";
import { expect, test } from "vitest";

import { chargedParamsOf, stripeStateOf } from "../../../lib/stripe/payment-intents.ts";

const INTENT = {
  id: "pi_1",
  status: "succeeded",
  created: 1_795_953_600,
  amount: 1250,
  currency: "eur",
  customer: "cus_ada",
  payment_method: "pm_visa",
  last_payment_error: null,
  description: null,
  statement_descriptor_suffix: null,
  metadata: { message_id: "order-1" },
} as unknown as Stripe.PaymentIntent;

const PARAMS = {
  amount: 1250,
  currency: "eur",
  customer: "cus_ada",
  payment_method: "pm_visa",
  confirm: true,
  off_session: true,
  metadata: { message_id: "order-1" },
};

test("a PaymentIntent's state has its outcome, if its status is one", () => {
  const known = { paymentIntentId: "pi_1", created: 1_795_953_600_000 };

  expect(stripeStateOf(INTENT)).toEqual({
    ...known,
    status: "succeeded",
    outcome: { result: "succeeded", paymentIntentId: "pi_1" },
  });
  expect(stripeStateOf({ ...INTENT, status: "requires_capture" })).toStrictEqual({
    ...known,
    status: "requires_capture",
  });
});

test.each<[string, object, object]>([
  ["what every payment has", {}, {}],
  [
    "its optional fields",
    { description: "Order 1", statement_descriptor_suffix: "1" },
    { description: "Order 1", statement_descriptor_suffix: "1" },
  ],
  ["an expanded customer", { customer: { id: "cus_ada" } }, {}],
  [
    "the method of a decline",
    { payment_method: null, last_payment_error: { payment_method: { id: "pm_visa" } } },
    {},
  ],
  [
    "a customer and a method that are not known",
    { customer: null, payment_method: null },
    { customer: "unknown", payment_method: "unknown" },
  ],
])("what was sent to Stripe is read back from a PaymentIntent: %s", (_, intent, params) => {
  expect(chargedParamsOf({ ...INTENT, ...intent })).toEqual({ ...PARAMS, ...params });
});
