// Where a person sees a PaymentIntent.
import type { Target } from "../clients/target.ts";

/** Where a person sees a PaymentIntent; `key` decides between test and live. */
export function linkTo(key: string | undefined, base: URL | null): (id: string) => string {
  if (base) return (id) => `${base.origin}/v1/payment_intents/${id}`;
  const mode = key && /^[rs]k_test_/.test(key) ? "test/" : "";
  return (id) => `https://dashboard.stripe.com/${mode}payments/${id}`;
}

/** The link without a key at hand. */
export function linkFor(target: Target): (id: string) => string {
  const environment = { ...process.env, ...target.local?.env };
  return linkTo(environment["STRIPE_API_KEY"], URL.parse(environment["STRIPE_API_BASE"] ?? ""));
}
