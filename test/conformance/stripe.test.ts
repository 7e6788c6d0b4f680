// Stripe's scenarios against the local Stripe and against the simulation's model.

import { afterAll, describe } from "vitest";

import { fixedKey } from "../../lib/stripe/api-key.ts";
import { stripeCharges } from "../../lib/stripe/charges.ts";
import { startStripe } from "../../local/stripe/server.ts";
import { createStripe } from "../../simulation/models/stripe.ts";
import { conform } from "./conform.ts";
import { START, stripeScenarios } from "./scenarios/stripe.ts";
import type { StripeSubject } from "./scenarios/stripe.ts";
import { serve } from "./servers/simulated-stripe.ts";

const stops: (() => Promise<void>)[] = [];
afterAll(async () => {
  for (const stop of stops.splice(0)) await stop();
});

const chargesAt = (url: string) => stripeCharges(fixedKey("sk_test_local"), new URL(url));

describe("the local Stripe", () => {
  conform(stripeScenarios, async (): Promise<StripeSubject> => {
    const clock = { now: START };
    const server = await startStripe({ now: () => clock.now });
    stops.push(() => server.stop());
    return {
      charges: chargesAt(server.url),
      intents: () => server.paymentIntents().length,
      advance: (ms) => void (clock.now += ms),
      methods: {
        declined: "pm_card_visa_chargeDeclinedInsufficientFunds",
        bankDebit: "pm_usBankAccount_processing",
        needsAction: "pm_usBankAccount_failMicrodeposits",
      },
    };
  });
});

describe("the simulation's Stripe", () => {
  conform(
    stripeScenarios,
    async (): Promise<StripeSubject> => {
      const clock = { now: START };
      const model = createStripe({ now: () => clock.now, prunesKeys: true });
      const server = await serve((request) => model.receive(request)());
      stops.push(() => server.stop());
      return {
        charges: chargesAt(server.url),
        intents: () => model.intents.length,
        advance: (ms) => void (clock.now += ms),
        methods: {
          declined: "pm_declined",
          bankDebit: "pm_bankDebit",
          needsAction: "pm_needsAction",
        },
      };
    },
    {
      "less than the smallest charge of a currency is rejected":
        "it knows no currencies: the worker's rule keeps these amounts from it",
    },
  );
});
