// Reads PaymentIntents by the time of their creation, page by page, and some of them by id.

import type { Agent } from "node:https";

import type { IntentEntry } from "../reconcile/compare.ts";
import type { StripeState } from "../reconcile/comparison.ts";
import type { Window } from "../reconcile/run.ts";
import type { StripeKeys } from "./api-key.ts";
import { createStripeCall } from "./call.ts";
import { stripeStateOf } from "./payment-intents.ts";

/** What Stripe did not answer; its name is what the log says. */
class StripeUnavailable extends Error {
  override name = "StripeUnavailable";
}

/**
 * One request after another, far below Stripe's rate, so that payments are not slowed down.
 *
 * @throws StripeUnavailable, from each of them
 */
export function paymentLister(keys: StripeKeys, timeoutMs: number, base?: URL, httpsAgent?: Agent) {
  const call = createStripeCall(keys, base, httpsAgent);

  async function ask<T>(run: Parameters<typeof call<T>>[1]): Promise<T> {
    const result = await call(performance.now() + timeoutMs, run);
    if ("value" in result) return result.value;
    const { answer } = result;
    throw new StripeUnavailable(answer.kind === "error" ? answer.error.kind : answer.kind);
  }

  return {
    async *intents({ since, until }: Window): AsyncGenerator<IntentEntry> {
      const created = { gte: Math.floor(since / 1_000), lt: Math.ceil(until / 1_000) };
      let after: string | undefined;
      for (;;) {
        const query = { created, limit: 100, ...(after && { starting_after: after }) };
        const page = await ask((stripe, timeout) => stripe.paymentIntents.list(query, { timeout }));
        for (const intent of page.data) {
          const messageId = intent.metadata["message_id"];
          if (messageId) yield { what: "intent", messageId, ...stripeStateOf(intent) };
        }
        after = page.data.at(-1)?.id;
        if (!page.has_more || !after) return;
      }
    },
    async states(ids: readonly string[]): Promise<StripeState[]> {
      const states: StripeState[] = [];
      for (const id of ids) {
        const found = await call(performance.now() + timeoutMs, (stripe, timeout) =>
          stripe.paymentIntents.retrieve(id, {}, { timeout }),
        );
        if ("value" in found) states.push(stripeStateOf(found.value));
        else if (found.answer.kind !== "error" || found.answer.error.kind !== "stripe_rejected") {
          throw new StripeUnavailable("retrieve");
        }
      }
      return states;
    },
  };
}
