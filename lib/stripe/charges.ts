// Charges at Stripe: one PaymentIntent, created and confirmed under the message's id, and the
// lookup for when Stripe may have forgotten that id.

import type { Agent } from "node:https";

import type { ChargeAnswer, Charges } from "../payments/protocol.ts";
import { answerOf } from "./answers.ts";
import type { StripeKeys } from "./api-key.ts";
import { createStripeCall } from "./call.ts";

/** Stripe, with keys that may change in flight. `base` is another address than Stripe's own. */
export function stripeCharges(keys: StripeKeys, base?: URL, httpsAgent?: Agent): Charges {
  const call = createStripeCall(keys, base, httpsAgent);

  return {
    async create(params, { idempotencyKey, timeoutMs }) {
      // stripe-node replaces an empty key by a random one: that would be a second charge.
      if (!idempotencyKey) throw new Error("Bug! A charge without an idempotency key.");
      const created = await call(performance.now() + timeoutMs, (stripe, timeout) =>
        stripe.paymentIntents.create(params, { idempotencyKey, timeout }),
      );
      if ("answer" in created) return created.answer;
      return answerOf(created.value, created.value.lastResponse.requestId);
    },

    // List, not search: search lags behind writes by up to a minute, list reads its own.
    // https://docs.stripe.com/search#data-freshness
    async find({ messageId, customer, amount, currency, since }, timeoutMs) {
      const endsAt = performance.now() + timeoutMs;
      const filter = { customer, created: { gte: Math.floor(since / 1_000) }, limit: 100 };
      let after: string | undefined;
      for (;;) {
        const query = { ...filter, ...(after && { starting_after: after }) };
        const page = await call(endsAt, (stripe, timeout) =>
          stripe.paymentIntents.list(query, { timeout }),
        );
        if ("answer" in page) return lookupError(page.answer);

        const { data, has_more, lastResponse } = page.value;
        const found = data.find((intent) => intent.metadata["message_id"] === messageId);
        if (found) {
          const same = found.amount === amount && found.currency === currency;
          return same ? answerOf(found, lastResponse.requestId) : OTHER_PAYMENT;
        }
        after = data.at(-1)?.id;
        if (!has_more || !after) return { kind: "none" };
      }
    },
  };
}

/** What is invalid is the question: it says nothing of the charge, which may have been made. */
function lookupError(answer: ChargeAnswer): ChargeAnswer {
  if (answer.kind === "outcome") return unexpected("card_error");
  const { kind } = answer.error;
  if (kind !== "stripe_rejected" && kind !== "stripe_conflict") return answer;
  return { kind: "error", error: { ...answer.error, kind: "stripe_lookup" } };
}

// The same id for another payment. Our fingerprint distinguishes the two, unless the record was lost.
const OTHER_PAYMENT: ChargeAnswer = {
  kind: "error",
  error: { kind: "stripe_conflict", code: "other_payment" },
};

const unexpected = (code: string): ChargeAnswer => ({
  kind: "error",
  error: { kind: "unexpected", code },
});
