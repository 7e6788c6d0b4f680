import { expect, test } from "vitest";

import { failureOf, payment, startedStripe } from "./stripe-fixture.ts";

test.for([
  "pm_card_visa",
  "pm_card_mastercard",
  "pm_card_amex",
  "pm_card_de",
  "pm_1Anna",
  "card_1Anna",
  "src_1Anna",
])("%s pays", async (payment_method) => {
  const { stripe } = await startedStripe();
  const intent = await stripe.paymentIntents.create(payment({ payment_method }));

  expect(intent.status).toBe("succeeded");
});

test.for([
  ["pm_card_chargeDeclined", "card_declined", "generic_decline", "Your card was declined."],
  ["pm_card_visa_chargeDeclined", "card_declined", "generic_decline", "Your card was declined."],
  [
    "pm_card_chargeDeclinedInsufficientFunds",
    "card_declined",
    "insufficient_funds",
    "Your card has insufficient funds.",
  ],
  [
    "pm_card_visa_chargeDeclinedInsufficientFunds",
    "card_declined",
    "insufficient_funds",
    "Your card has insufficient funds.",
  ],
  ["pm_card_visa_chargeDeclinedLostCard", "card_declined", "lost_card", "Your card was declined."],
  [
    "pm_card_visa_chargeDeclinedStolenCard",
    "card_declined",
    "stolen_card",
    "Your card was declined.",
  ],
  ["pm_card_chargeDeclinedFraudulent", "card_declined", "fraudulent", "Your card was declined."],
  [
    "pm_card_visa_chargeDeclinedVelocityLimitExceeded",
    "card_declined",
    "card_velocity_exceeded",
    "Your card was declined for making repeated attempts too frequently or exceeding its amount limit.",
  ],
  [
    "pm_card_chargeDeclinedExpiredCard",
    "expired_card",
    undefined,
    "Your card has expired.",
    "exp_month",
  ],
  [
    "pm_card_chargeDeclinedIncorrectCvc",
    "incorrect_cvc",
    undefined,
    "Your card's security code is incorrect.",
    "cvc",
  ],
  [
    "pm_card_chargeDeclinedProcessingError",
    "processing_error",
    undefined,
    "An error occurred while processing your card. Try again in a little bit.",
  ],
  [
    "pm_card_authenticationRequired",
    "authentication_required",
    "authentication_required",
    "Your card was declined. This transaction requires authentication.",
  ],
] as [string, string, string | undefined, string, param?: string][])(
  "%s is declined with %s and %s",
  async ([method, code, declineCode, message, param]) => {
    const { server, stripe } = await startedStripe();
    const error = await failureOf(
      stripe.paymentIntents.create(payment({ payment_method: method })),
    );

    const [intent] = server.paymentIntents();
    expect(error).toMatchObject({
      type: "StripeCardError",
      rawType: "card_error",
      statusCode: 402,
      code,
      message,
      payment_intent: { id: intent?.id, status: "requires_payment_method" },
      payment_method: { object: "payment_method", type: "card", livemode: false },
    });
    expect((error.raw as { decline_code?: string }).decline_code).toBe(declineCode);
    expect(error.raw).not.toHaveProperty("decline_code", null);
    expect(Object.hasOwn(error.raw as object, "decline_code")).toBe(declineCode !== undefined);
    expect(error.charge).toBe(intent?.latest_charge);
    expect(error.request_log_url).toContain(error.requestId);
    expect(error.param).toBe(param);
    expect(server.ledger.charges()).toEqual([]);
  },
);

test("a declined PaymentIntent exists afterwards with the reason on it", async () => {
  const { stripe } = await startedStripe();
  const error = await failureOf(
    stripe.paymentIntents.create(payment({ payment_method: "pm_card_chargeDeclined" })),
  );

  const intent = await stripe.paymentIntents.retrieve(error.payment_intent?.id ?? "");

  expect(intent).toMatchObject({
    status: "requires_payment_method",
    amount_received: 0,
    payment_method: null,
    last_payment_error: {
      type: "card_error",
      code: "card_declined",
      decline_code: "generic_decline",
    },
  });
});

test.for([
  ["pm_usBankAccount_success", "processing", null, [{ status: "processing" }]],
  [
    "pm_usBankAccount_failMicrodeposits",
    "requires_action",
    { type: "verify_with_microdeposits" },
    [],
  ],
] as const)(
  "a payment by %s is %s, and a debit that is on its way counts as a charge",
  async ([payment_method, status, next_action, charges]) => {
    const { server, stripe } = await startedStripe();
    const over = { currency: "usd", payment_method };

    const intent = await stripe.paymentIntents.create(payment(over));

    expect(intent).toMatchObject({ status, next_action, amount_received: 0 });
    expect(server.ledger.charges()).toMatchObject(charges);
  },
);
