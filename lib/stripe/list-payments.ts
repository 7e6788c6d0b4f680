// Reads Stripe's side of a reconciliation: PaymentIntents and balance by time, page by page, and some
// PaymentIntents again.

import type { Agent } from "node:https";

import type { Stripe } from "stripe";

import type { Books } from "../reconcile/run.ts";
import type { StripeKeys } from "./api-key.ts";
import { createStripeCall } from "./call.ts";
import type { Pace } from "./pace.ts";
import { intentEntryOf, stripeStateOf, transactionOf } from "./payment-intents.ts";

/** What Stripe did not answer; its message is what the log says. */
class StripeUnavailable extends Error {
  override name = "StripeUnavailable";
  statusCode: number | undefined;
  constructor(kind: string) {
    super(kind);
    this.statusCode = kind === "stripe_rate_limited" ? 429 : undefined;
  }
}

type Settings = {
  timeoutMs: number;
  /** Shared by all calls: payments need Stripe's limit themselves. */
  pace: Pace;
  base?: URL;
  httpsAgent?: Agent;
};

type Page<T> = { data: T[]; has_more: boolean };
type Query = { created: { gte: number; lt: number }; limit: number; starting_after?: string };

/** @throws StripeUnavailable, from each of them */
export function paymentLister(
  keys: StripeKeys,
  { timeoutMs, pace, base, httpsAgent }: Settings,
): Pick<Books, "intents" | "transactions" | "states"> {
  const call = createStripeCall(keys, base, httpsAgent);

  /** Undefined when Stripe says that there is no such thing. */
  const ask = <T>(run: (stripe: Stripe, timeout: number) => Promise<T>): Promise<T | undefined> =>
    pace(async () => {
      const result = await call(performance.now() + timeoutMs, run);
      if ("value" in result) return result.value;
      const { answer } = result;
      const kind = answer.kind === "error" ? answer.error.kind : answer.kind;
      if (kind === "stripe_rejected") return undefined;
      throw new StripeUnavailable(kind);
    });

  async function* pages<T extends { id: string }>(
    { since, until }: { since: number; until: number },
    list: (stripe: Stripe, query: Query, timeout: number) => Promise<Page<T>>,
  ): AsyncGenerator<T> {
    const created = { gte: Math.floor(since / 1_000), lt: Math.ceil(until / 1_000) };
    let after: string | undefined;
    for (;;) {
      const query = { created, limit: 100, ...(after && { starting_after: after }) };
      const page = await ask((stripe, timeout) => list(stripe, query, timeout));
      if (!page) throw new StripeUnavailable("stripe_rejected");
      yield* page.data;
      after = page.data.at(-1)?.id;
      if (!page.has_more || !after) return;
    }
  }

  return {
    async *intents(window) {
      for await (const intent of pages(window, (stripe, query, timeout) =>
        stripe.paymentIntents.list(query, { timeout }),
      )) {
        const entry = intentEntryOf(intent);
        if (entry) yield entry;
      }
    },
    async *transactions(window) {
      try {
        for await (const transaction of pages(window, (stripe, query, timeout) =>
          stripe.balanceTransactions.list({ ...query, expand: ["data.source"] }, { timeout }),
        )) {
          yield transactionOf(transaction);
        }
      } catch (error) {
        // The list of PaymentIntents, which comes first, has shown that the key is good.
        if ((error as Error).message !== "stripe_configuration") throw error;
        yield undefined;
      }
    },
    async states(messageId, ids, balance) {
      if (ids.length === 0) {
        const query = `metadata["message_id"]:"${messageId.replaceAll(/["\\]/g, String.raw`\$&`)}"`;
        const found = await ask((stripe, timeout) =>
          stripe.paymentIntents.search({ query, limit: 100 }, { timeout }),
        );
        return (found?.data ?? []).map(stripeStateOf);
      }
      const expand = balance ? { expand: ["latest_charge.balance_transaction"] } : {};
      const states = [];
      for (const id of ids) {
        const intent = await ask((stripe, timeout) =>
          stripe.paymentIntents.retrieve(id, expand, { timeout }),
        );
        if (intent) states.push(stripeStateOf(intent));
      }
      return states;
    },
  };
}
