// Balance transactions: what moves money in an account's balance, each when it happens. A bank debit
// has one as soon as it is submitted, and another that takes it back when it fails.
// https://docs.stripe.com/api/balance_transactions,
// https://docs.stripe.com/reports/balance-transaction-types,
// https://support.stripe.com/questions/changes-to-balance-transaction-behavior-for-debit-payment-methods

import type Stripe from "stripe";

import type { Answer } from "./errors.ts";
import type { Params } from "./form.ts";
import { listPage } from "./list.ts";
import { text, textHash } from "./parameters.ts";
import { newId } from "./payment-intent.ts";
import type { PaymentIntent } from "./payment-intent.ts";

type Transaction = Stripe.BalanceTransaction & { source: string };

/** What `expand[]=data.source` shows in the place of an id. */
type SourceOf = (transaction: Transaction, intent: string) => object | null;

const DAY_S = 86_400;
const CATEGORY = {
  charge: "charge",
  payment: "charge",
  payment_failure_refund: "charge_failure",
  refund: "refund",
  payment_refund: "refund",
} as const;

export function createBalance(now: () => number) {
  const byAccount = new Map<string, Transaction[]>();
  const intents = new Map<string, string>();
  const ofSource = new Map<string, string>();
  const rates = new Map<string, { currency: string; rate: number }>();
  let lagMs = 0;

  function add(
    account: string,
    type: keyof typeof CATEGORY,
    { id: intent, amount, currency }: PaymentIntent,
    { source, part = amount }: { source: string; part?: number },
  ): void {
    const sign = type === "charge" || type === "payment" ? 1 : -1;
    const to = rates.get(currency);
    const gross = sign * Math.round(part * (to?.rate ?? 1));
    const fee = sign > 0 ? Math.round(gross * 0.029) + 30 : 0;
    const created = Math.floor(now() / 1_000);
    const about = { description: "Stripe processing fees", type: "stripe_fee" };
    const settled = to?.currency ?? currency;
    const details = { amount: fee, application: null, currency: settled, ...about };
    const transaction: Transaction = {
      id: newId("txn_3"),
      object: "balance_transaction",
      amount: gross,
      available_on: created + 2 * DAY_S,
      balance_type: "payments",
      created,
      currency: settled,
      description: null,
      exchange_rate: to?.rate ?? null,
      fee,
      fee_details: fee > 0 ? [details] : [],
      net: gross - fee,
      reporting_category: CATEGORY[type],
      source,
      status: "pending",
      type,
    };
    const own = byAccount.get(account) ?? [];
    own.push(transaction);
    byAccount.set(account, own);
    intents.set(transaction.id, intent);
    if (sign > 0) ofSource.set(source, transaction.id);
  }

  const all = (account: string): readonly Transaction[] => byAccount.get(account) ?? [];
  const shown = ({ created }: Transaction) => lagMs === 0 || created * 1_000 + lagMs <= now();
  const find = (account: string, id: string | null | undefined) =>
    all(account).find((one) => one.id === id && shown(one));

  return {
    /** After whatever a PaymentIntent went through: its charge counts from when it is submitted. */
    follow(account: string, before: PaymentIntent | undefined, intent: PaymentIntent): void {
      const { status, latest_charge } = intent;
      const source = typeof latest_charge === "string" ? latest_charge : undefined;
      if (source === undefined) return;
      const type = source.startsWith("py_") ? "payment" : "charge";
      const counted = ofSource.has(source);
      if (!counted && (status === "succeeded" || status === "processing")) {
        add(account, type, intent, { source });
      } else if (counted && before?.status === "processing" && status !== "succeeded") {
        add(account, "payment_failure_refund", intent, { source });
      }
    },
    refunded(account: string, intent: PaymentIntent, part: number): void {
      const { latest_charge: charge } = intent;
      const payment = typeof charge === "string" && charge.startsWith("py_");
      const type = payment ? "payment_refund" : "refund";
      add(account, type, intent, { source: newId(payment ? "pyr_1" : "re_3"), part });
    },
    /** The id of a charge's own transaction. */
    of(charge: string): string | null {
      return lagMs === Infinity ? null : (ofSource.get(charge) ?? null);
    },
    find,
    /** `GET /v1/balance_transactions`, newest first. */
    list(account: string, params: Params, sourceOf: SourceOf): Answer {
      const wants = (name: string) => text(params, name);
      return listPage({
        params,
        known: { type: "string", source: "string", currency: "string", payout: "string" },
        oldestFirst: lagMs === 0 ? all(account) : all(account).filter(shown),
        url: "/v1/balance_transactions",
        object: "balance_transaction",
        matches: ({ type, source, currency }) =>
          (wants("type") ?? type) === type &&
          (wants("source") ?? source) === source &&
          (wants("currency") ?? currency) === currency &&
          wants("payout") === undefined,
        show: (transaction) =>
          Object.values(textHash(params, "expand")).includes("data.source")
            ? { ...transaction, source: sourceOf(transaction, intents.get(transaction.id) ?? "") }
            : transaction,
      });
    },
    /** From now on, charges in one currency are settled in another. */
    settleIn: (from: string, currency: string, rate: number) =>
      void rates.set(from, { currency, rate }),
    /** How long after a charge its transaction is there: captures are asynchronous. */
    setLag: (ms: number) => void (lagMs = ms),
  };
}

export type Balance = ReturnType<typeof createBalance>;

/** The refund of a transaction, as far as it is to be relied on. */
export function refundObject(
  { source, amount, id, created, currency }: Transaction,
  intent: PaymentIntent,
): Stripe.Refund {
  return {
    id: source,
    object: "refund",
    amount: -amount,
    balance_transaction: id,
    charge: typeof intent.latest_charge === "string" ? intent.latest_charge : null,
    created,
    currency,
    customer: null,
    customer_account: null,
    metadata: {},
    payment_intent: intent.id,
    payment_method: null,
    reason: null,
    receipt_number: null,
    source_transfer_reversal: null,
    status: "succeeded",
    transfer_reversal: null,
  };
}
