// What the worker relies on at Stripe, by the worker's own client.

import { expect } from "vitest";

import type { ChargeParams } from "../../../lib/payments/charge.ts";
import type { stripeCharges } from "../../../lib/stripe/charges.ts";
import { documentedBy } from "../conform.ts";
import type { Scenario } from "../conform.ts";

export type StripeSubject = {
  charges: ReturnType<typeof stripeCharges>;
  /** How many PaymentIntents there are. */
  intents: () => number;
  /** Moves Stripe's clock, which starts at START. */
  advance: (ms: number) => void;
  /** Payment methods that end like this. */
  methods: { declined: string; bankDebit: string; needsAction: string };
};

export const START = Date.parse("2026-11-29T12:00:00Z");

const KEYS = "https://docs.stripe.com/api/idempotent_requests";
const CREATE = "https://docs.stripe.com/api/payment_intents/create";
const CURRENCIES = "https://docs.stripe.com/currencies";
const LIST = "https://docs.stripe.com/api/payment_intents/list";
const HOUR = 3_600_000;
const TIMEOUT_MS = 10_000;

const params = (id: string, changes: Partial<ChargeParams> = {}): ChargeParams => ({
  amount: 1200,
  currency: "eur",
  customer: "cus_ada",
  payment_method: "pm_card_visa",
  confirm: true,
  off_session: true,
  metadata: { message_id: id },
  ...changes,
});

const create = ({ charges }: StripeSubject, id: string, changes: Partial<ChargeParams> = {}) =>
  charges.create(params(id, changes), { idempotencyKey: id, timeoutMs: TIMEOUT_MS });

const find = ({ charges }: StripeSubject, messageId: string, changes = {}) =>
  charges.find(
    {
      messageId,
      customer: "cus_ada",
      amount: 1200,
      currency: "eur",
      since: START - HOUR,
      ...changes,
    },
    TIMEOUT_MS,
  );

/** What is the same in every repeat of an answer. */
async function answerOf(answer: Promise<{ kind: string }>): Promise<unknown> {
  const { requestId: _, ...rest } = (await answer) as { requestId?: string };
  return rest;
}

const outcome = (result: string) => ({
  kind: "outcome",
  outcome: { result, paymentIntentId: expect.stringMatching(/^pi_/) as string },
});

export const stripeScenarios: readonly Scenario<StripeSubject>[] = [
  ...documentedBy<StripeSubject>(CREATE, {
    async "a confirmed create with a working card has succeeded"(stripe) {
      expect(await create(stripe, "m-1")).toMatchObject(outcome("succeeded"));
      expect(stripe.intents()).toBe(1);
    },
  }),
  ...documentedBy<StripeSubject>(CURRENCIES, {
    async "a card takes twelve digits in every currency"(stripe) {
      for (const [currency, amount] of [
        ["idr", 100_000_000],
        ["cop", 450_000_000],
        ["jpy", 150_000_000],
        ["eur", 999_999_999_999],
      ] as const) {
        const answer = create(stripe, `in-${currency}`, { currency, amount });
        expect(await answer).toMatchObject(outcome("succeeded"));
      }
    },
  }),
  ...documentedBy<StripeSubject>(`${CURRENCIES}#special-cases`, {
    async "less than the smallest charge of a currency is rejected"(stripe) {
      for (const [currency, amount] of [
        ["isk", 5_050],
        ["ugx", 550],
        ["kwd", 1_005],
      ] as const) {
        const answer = create(stripe, `in-${currency}`, { currency, amount });
        expect(await answer).toMatchObject({ kind: "error", error: { kind: "stripe_rejected" } });
      }
      expect(stripe.intents()).toBe(0);
    },
  }),
  ...documentedBy<StripeSubject>(CREATE, {
    async "a Card, a Source and a customer whose id the account chose can be charged and found"(
      stripe,
    ) {
      const customer = "ada+1@example.com";
      for (const payment_method of ["card_1Ada", "src_1Ada"]) {
        const created = await answerOf(
          create(stripe, payment_method, { payment_method, customer }),
        );

        expect(created).toMatchObject(outcome("succeeded"));
        expect(await answerOf(find(stripe, payment_method, { customer }))).toEqual(created);
      }
    },

    async "a description of 1,000 characters of two UTF-16 units each is taken"(stripe) {
      const answer = create(stripe, "m-1", { description: "😀".repeat(1_000) });

      expect(await answer).toMatchObject(outcome("succeeded"));
    },
  }),
  ...documentedBy<StripeSubject>("https://docs.stripe.com/payments/paymentintents/lifecycle", {
    async "a bank debit is processing, and is not succeeded"(stripe) {
      const answer = create(stripe, "m-1", { payment_method: stripe.methods.bankDebit });

      expect(await answer).toMatchObject(outcome("processing"));
    },

    async "a payment that wants something of its customer requires action"(stripe) {
      const answer = create(stripe, "m-1", { payment_method: stripe.methods.needsAction });

      expect(await answer).toMatchObject(outcome("requires_action"));
    },
  }),
  ...documentedBy<StripeSubject>("https://docs.stripe.com/declines/codes", {
    async "a declined card is an answer with its codes and its PaymentIntent"(stripe) {
      const answer = create(stripe, "m-1", { payment_method: stripe.methods.declined });

      expect(await answer).toMatchObject({
        kind: "outcome",
        outcome: {
          result: "declined",
          code: "card_declined",
          declineCode: "insufficient_funds",
          paymentIntentId: expect.stringMatching(/^pi_/) as string,
        },
      });
    },
  }),
  ...documentedBy<StripeSubject>(KEYS, {
    async "the same key answers the same again and charges once, also for a decline"(stripe) {
      const declined = { payment_method: stripe.methods.declined };
      const first = await answerOf(create(stripe, "m-1"));
      const refused = await answerOf(create(stripe, "m-2", declined));

      expect(await answerOf(create(stripe, "m-1"))).toEqual(first);
      expect(await answerOf(create(stripe, "m-2", declined))).toEqual(refused);
      expect(stripe.intents()).toBe(2);
    },

    async "the same key with other parameters is a conflict and charges nothing"(stripe) {
      await create(stripe, "m-1", { amount: 500 });

      const answer = await create(stripe, "m-1", { amount: 700 });

      expect(answer).toMatchObject({ kind: "error", error: { kind: "stripe_conflict" } });
      expect(stripe.intents()).toBe(1);
    },

    async "of many creates at once with one key, one charges and none charges again"(stripe) {
      const answers = await Promise.all(Array.from({ length: 8 }, () => create(stripe, "m-1")));

      expect(stripe.intents()).toBe(1);
      for (const answer of answers) {
        const said = answer.kind === "outcome" ? answer.outcome.result : answer.error.kind;
        expect(["succeeded", "stripe_key_in_use"]).toContain(said);
      }
    },

    async "a key is still known after 23 hours"(stripe) {
      const first = await answerOf(create(stripe, "m-1"));

      stripe.advance(23 * HOUR);

      expect(await answerOf(create(stripe, "m-1"))).toEqual(first);
      expect(stripe.intents()).toBe(1);
    },

    async "a key may be forgotten after 24 hours, and then charges again"(stripe) {
      await create(stripe, "m-1");

      stripe.advance(24 * HOUR);
      await create(stripe, "m-1");

      expect(stripe.intents()).toBe(2);
    },
  }),
  ...documentedBy<StripeSubject>(LIST, {
    async "nothing is found where nothing was created"(stripe) {
      await create(stripe, "another");

      expect(await find(stripe, "m-1")).toEqual({ kind: "none" });
    },

    async "what was created a moment ago is found, with the outcome that its create had"(stripe) {
      const { declined, bankDebit, needsAction } = stripe.methods;

      for (const [i, method] of ["pm_card_visa", bankDebit, needsAction, declined].entries()) {
        const created = await answerOf(create(stripe, `m-${i}`, { payment_method: method }));
        expect(await answerOf(find(stripe, `m-${i}`))).toEqual(created);
      }
    },

    async "another customer's payment and one from before the time asked for are not found"(
      stripe,
    ) {
      await create(stripe, "m-1");

      expect(await find(stripe, "m-1", { customer: "cus_grace" })).toEqual({ kind: "none" });
      expect(await find(stripe, "m-1", { since: START + HOUR })).toEqual({ kind: "none" });
      expect(await find(stripe, "m-1", { since: START })).toMatchObject({ kind: "outcome" });
    },
  }),
  ...documentedBy<StripeSubject>("https://docs.stripe.com/api/pagination", {
    async "a payment is found behind more than a page of newer ones"(stripe) {
      const created = await answerOf(create(stripe, "m-1"));
      for (let i = 0; i < 205; i++) {
        if (i === 100) stripe.advance(1_000);
        await create(stripe, `newer-${i}`);
      }

      expect(await answerOf(find(stripe, "m-1"))).toEqual(created);
    },
  }),
];
