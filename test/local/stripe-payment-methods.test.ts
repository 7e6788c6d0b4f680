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
  ["pm_card_chargeDeclinedExpiredCard", "expired_card", undefined, "Your card has expired."],
  [
    "pm_card_chargeDeclinedIncorrectCvc",
    "incorrect_cvc",
    undefined,
    "Your card's security code is incorrect.",
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
] as const)("%s is declined with %s and %s", async ([method, code, declineCode, message]) => {
  const { server, stripe } = await startedStripe();
  const error = await failureOf(stripe.paymentIntents.create(payment({ payment_method: method })));

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
  expect(server.ledger.charges()).toEqual([]);
});

test.for([
  ["pm_card_chargeDeclinedExpiredCard", "exp_month"],
  ["pm_card_chargeDeclinedIncorrectCvc", "cvc"],
  ["pm_card_chargeDeclined", undefined],
] as const)("the decline of %s names the parameter %s", async ([payment_method, param]) => {
  const { stripe } = await startedStripe();

  const error = await failureOf(stripe.paymentIntents.create(payment({ payment_method })));

  expect(error.param).toBe(param);
});

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

test("a bank debit stays processing, and counts as a charge", async () => {
  const { server, stripe } = await startedStripe();
  const intent = await stripe.paymentIntents.create(
    payment({ currency: "usd", payment_method: "pm_usBankAccount_success" }),
  );

  expect(intent).toMatchObject({ status: "processing", amount_received: 0 });
  expect(server.ledger.charges()).toMatchObject([
    { paymentIntent: intent.id, status: "processing" },
  ]);
});

test("a bank account that must be verified requires action off session too", async () => {
  const { server, stripe } = await startedStripe();
  const intent = await stripe.paymentIntents.create(
    payment({ currency: "usd", payment_method: "pm_usBankAccount_failMicrodeposits" }),
  );

  expect(intent).toMatchObject({
    status: "requires_action",
    next_action: { type: "verify_with_microdeposits" },
  });
  expect(server.ledger.charges()).toEqual([]);
});

test("a card that needs authentication requires action while the customer is there", async () => {
  const { stripe } = await startedStripe();
  const intent = await stripe.paymentIntents.create({
    amount: 1200,
    currency: "eur",
    payment_method: "pm_card_threeDSecure2Required",
    confirm: true,
    return_url: "https://example.com/done",
  });

  expect(intent).toMatchObject({
    status: "requires_action",
    next_action: { type: "use_stripe_sdk" },
  });
});
