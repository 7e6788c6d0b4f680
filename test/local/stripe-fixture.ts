import { Stripe } from "stripe";
import { onTestFinished } from "vitest";

import { startStripe } from "../../local/stripe/server.ts";
import type { StripeServer } from "../../local/stripe/server.ts";

/** 2026-03-01T12:00:00Z: where the clock of every test server starts. */
export const START_MS = 1_772_366_400_000;

/** A Stripe server of its own for this test, on a clock that the test moves, and stripe-node pointed at it. */
export async function startedStripe() {
  let nowMs = START_MS;
  const clock = { now: () => nowMs, advance: (ms: number) => void (nowMs += ms) };
  const server = await startStripe({ now: clock.now });
  onTestFinished(() => server.stop());
  return { clock, server, stripe: clientOf(server) };
}

export function clientOf(
  server: StripeServer,
  key = "sk_test_local",
  options: Stripe.StripeConfig = {},
) {
  const { hostname: host, port } = new URL(server.url);
  return new Stripe(key, { host, port, protocol: "http", maxNetworkRetries: 0, ...options });
}

/** A payment as the worker makes it: 12.00 EUR, confirmed off session. */
export function payment(
  over: Partial<Stripe.PaymentIntentCreateParams> = {},
): Stripe.PaymentIntentCreateParams {
  return {
    amount: 1200,
    currency: "eur",
    customer: "cus_anna",
    payment_method: "pm_card_visa",
    confirm: true,
    off_session: true,
    ...over,
  };
}

/** The error that stripe-node throws; it fails the test when there is none. */
export async function failureOf(call: Promise<unknown>): Promise<Stripe.errors.StripeError> {
  try {
    await call;
  } catch (error) {
    if (error instanceof Stripe.errors.StripeError) return error;
    throw error;
  }
  throw new Error("The call was expected to fail, but Stripe accepted it.");
}
