import { expect, test } from "vitest";

import { addTo, addTransaction, differingSums, noTotals } from "../../../lib/reconcile/money.ts";
import type { Transaction } from "../../../lib/reconcile/money.ts";

const CHARGE: Transaction = {
  transactionId: "txn_1",
  category: "charge",
  created: 0,
  amount: 1_320,
  currency: "usd",
  fee: 70,
  net: 1_250,
  charge: { messageId: "order-1", paymentIntentId: "pi_1", amount: 1_200, currency: "eur" },
};
const { charge: _, ...OTHERS } = CHARGE;

test("our charges are settled, with their fees; whatever else moves is kept apart, by its category", () => {
  const totals = noTotals();
  for (const one of [
    CHARGE,
    CHARGE,
    { ...CHARGE, currency: "eur" },
    { ...OTHERS, category: "refund", amount: -5 },
    { ...OTHERS, category: "refund", amount: -6 },
    { ...OTHERS, category: "refund", amount: -7, currency: "eur" },
    { ...OTHERS, amount: 9 },
  ]) {
    addTransaction(totals, one);
  }
  expect(totals).toStrictEqual({
    recorded: {},
    inBalance: {},
    settled: {
      usd: { count: 2, amount: 2_640, fee: 140, net: 2_500 },
      eur: { count: 1, amount: 1_320, fee: 70, net: 1_250 },
    },
    other: {
      refund: { usd: { count: 2, amount: -11 }, eur: { count: 1, amount: -7 } },
      charge: { usd: { count: 1, amount: 9 } },
    },
  });
});

test("sums differ in a currency that either side lacks, or that has another amount, in the order of their names", () => {
  const totals = noTotals();
  for (const currency of ["usd", "eur", "jpy"]) addTo(totals.recorded, { amount: 100, currency });
  for (const currency of ["jpy", "gbp", "eur"]) addTo(totals.inBalance, { amount: 100, currency });
  addTo(totals.inBalance, { amount: 1, currency: "eur" });
  expect(differingSums(totals)).toStrictEqual([
    { currency: "eur", recorded: 100, inBalance: 101 },
    { currency: "gbp", recorded: 0, inBalance: 100 },
    { currency: "usd", recorded: 100, inBalance: 0 },
  ]);
});
