// What Stripe says of a PaymentIntent now.

import type { Agent } from "node:https";

import type { Stripe } from "stripe";

import type { PaymentState } from "../payments/finalize.ts";
import type { AttemptError, Outcome } from "../payments/record.ts";
import { answerOf } from "./answers.ts";
import type { StripeKeys } from "./api-key.ts";
import { createStripeCall } from "./call.ts";

/** `foreign`: another integration made it, for it carries no message id. */
export type Retrieved<T> = { found: T } | { foreign: true } | { error: AttemptError };

/** How much of a payment was paid back, in Stripe's smallest unit. */
export type Refunded = Pick<PaymentState, "messageId" | "paymentIntentId" | "currency"> & {
  amountRefunded: number;
};

/** Each call ends within `timeoutMs`, the key included. */
export interface Payments {
  retrieve(paymentIntentId: string, timeoutMs: number): Promise<Retrieved<PaymentState>>;
  refunded(paymentIntentId: string, timeoutMs: number): Promise<Retrieved<Refunded>>;
}

export function stripePayments(keys: StripeKeys, base?: URL, httpsAgent?: Agent): Payments {
  const call = createStripeCall(keys, base, httpsAgent);

  async function retrieve(
    id: string,
    timeoutMs: number,
    expand: string[],
  ): Promise<Retrieved<{ intent: Stripe.PaymentIntent; messageId: string; requestId: string }>> {
    const params = expand.length > 0 ? { expand } : {};
    const retrieved = await call(performance.now() + timeoutMs, (stripe, timeout) =>
      stripe.paymentIntents.retrieve(id, params, { timeout }),
    );
    if ("answer" in retrieved) {
      const { answer } = retrieved;
      if (answer.kind === "outcome") return { error: { kind: "unexpected", code: "card_error" } };
      // What is invalid is the question: it says nothing of the payment.
      const { kind } = answer.error;
      return {
        error: { ...answer.error, kind: kind === "stripe_rejected" ? "stripe_lookup" : kind },
      };
    }
    const messageId = retrieved.value.metadata["message_id"];
    if (!messageId) return { foreign: true };
    const { requestId } = retrieved.value.lastResponse;
    return { found: { intent: retrieved.value, messageId, requestId } };
  }

  return {
    async retrieve(paymentIntentId, timeoutMs) {
      const result = await retrieve(paymentIntentId, timeoutMs, []);
      if (!("found" in result)) return result;
      const { intent, messageId, requestId } = result.found;
      const answer = answerOf(intent, requestId);
      if (answer.kind === "error") return { error: answer.error };
      const { id, amount, currency } = intent;
      const outcome = later(answer.outcome, id);
      return { found: { paymentIntentId: id, messageId, outcome, amount, currency } };
    },
    async refunded(paymentIntentId, timeoutMs) {
      const result = await retrieve(paymentIntentId, timeoutMs, ["latest_charge"]);
      if (!("found" in result)) return result;
      const { intent, messageId } = result.found;
      const charge = typeof intent.latest_charge === "object" ? intent.latest_charge : undefined;
      const amountRefunded = charge?.amount_refunded ?? 0;
      return {
        found: { paymentIntentId: intent.id, messageId, amountRefunded, currency: intent.currency },
      };
    },
  };
}

/** A payment that was not paid after its creation has failed; declined is what its creation was. */
function later(outcome: Outcome, paymentIntentId: string): Outcome {
  return outcome.result === "declined"
    ? { ...outcome, result: "failed", paymentIntentId }
    : outcome;
}
