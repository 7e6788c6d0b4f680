// The money side of a comparison: sums for each currency, of what is recorded as paid and of what
// Stripe's balance shows.

/** In the currency's smallest unit. */
export type Money = { amount: number; currency: string };

/** A movement in Stripe's balance. Times are epoch ms. */
export type Transaction = Money & {
  transactionId: string;
  /** Stripe's reporting category, such as `charge`, `charge_failure` or `refund`. */
  category: string;
  created: number;
  fee: number;
  net: number;
  /** For the charge of a message, in the currency that the customer paid in. */
  charge?: Money & { messageId: string; paymentIntentId: string; customer?: string };
};

/** By currency. */
export type Amounts = Record<string, { count: number; amount: number }>;

export type Totals = {
  /** What the records say was paid. */
  recorded: Amounts;
  /** What Stripe's balance shows for the same payments, in the currency that they were paid in. */
  inBalance: Amounts;
  /** The same in the currency that it was settled in, before and after fees. */
  settled: Record<string, { count: number; amount: number; fee: number; net: number }>;
  /** All else that moved in the account's balance, other integrations' charges too, by category. */
  other: Record<string, Amounts>;
};

export const noTotals = (): Totals => ({ recorded: {}, inBalance: {}, settled: {}, other: {} });

export function addTo(amounts: Amounts, { amount, currency }: Money): void {
  const so = amounts[currency] ?? { count: 0, amount: 0 };
  amounts[currency] = { count: so.count + 1, amount: so.amount + amount };
}

/** Adds what was settled, or what is not a charge of ours; what was paid is added when it is compared. */
export function addTransaction(totals: Totals, transaction: Transaction): void {
  const { category, charge, amount, currency, fee, net } = transaction;
  if (!charge) {
    addTo((totals.other[category] ??= {}), transaction);
    return;
  }
  const so = totals.settled[currency] ?? { count: 0, amount: 0, fee: 0, net: 0 };
  totals.settled[currency] = {
    count: so.count + 1,
    amount: so.amount + amount,
    fee: so.fee + fee,
    net: so.net + net,
  };
}

export type SumDifference = { currency: string; recorded: number; inBalance: number };

/** The currencies in which the two sides differ. */
export function differingSums({ recorded, inBalance }: Totals): SumDifference[] {
  const currencies = [...new Set([...Object.keys(recorded), ...Object.keys(inBalance)])];
  return currencies
    .map((currency) => ({
      currency,
      recorded: recorded[currency]?.amount ?? 0,
      inBalance: inBalance[currency]?.amount ?? 0,
    }))
    .filter((sums) => sums.recorded !== sums.inBalance)
    .toSorted((a, b) => (a.currency < b.currency ? -1 : 1));
}
