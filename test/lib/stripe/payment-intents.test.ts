import type { Stripe } from "stripe";
import { expect, test } from "vitest";

import {
  chargedParamsOf,
  intentEntryOf,
  stripeStateOf,
  transactionOf,
} from "../../../lib/stripe/payment-intents.ts";

const INTENT = {
  id: "pi_1",
  status: "succeeded",
  created: 1_795_953_600,
  amount: 1250,
  currency: "eur",
  customer: "cus_ada",
  payment_method: "pm_visa",
  last_payment_error: null,
  description: null,
  statement_descriptor_suffix: null,
  metadata: { message_id: "order-1" },
} as unknown as Stripe.PaymentIntent;

const PARAMS = {
  amount: 1250,
  currency: "eur",
  customer: "cus_ada",
  payment_method: "pm_visa",
  confirm: true,
  off_session: true,
  metadata: { message_id: "order-1" },
};

const STATE = {
  paymentIntentId: "pi_1",
  created: 1_795_953_600_000,
  status: "succeeded",
  amount: 1250,
  currency: "eur",
  messageId: "order-1",
  customer: "cus_ada",
};
const PAID = { outcome: { result: "succeeded", paymentIntentId: "pi_1" } };
const TRANSACTION = { id: "txn_1", amount: 1250, currency: "eur" };
const CHARGE = {
  object: "charge",
  amount: 1250,
  currency: "eur",
  customer: { id: "cus_ada" },
  metadata: { message_id: "order-1" },
  payment_intent: "pi_1",
  balance_transaction: TRANSACTION,
};
const { customer: _, messageId: _id, ...NAMELESS } = STATE;

const EUR = { amount: 1250, currency: "eur" };
const USD = { amount: 1400, currency: "usd" };
const OURS = { messageId: "order-1", customer: "cus_ada", inBalance: EUR };
const IN_DOLLARS = { ...TRANSACTION, ...USD };
const NOT_TAKEN = { ...CHARGE, customer: null, metadata: {}, balance_transaction: null };

test.each<[string, object, object]>([
  ["its outcome", {}, { ...STATE, ...PAID }],
  [
    "no outcome, when its status is none",
    { status: "requires_capture" },
    { ...STATE, status: "requires_capture" },
  ],
  ["neither customer nor id", { customer: null, metadata: {} }, { ...NAMELESS, ...PAID }],
  ["no charge that was not read", { latest_charge: "ch_1" }, { ...STATE, ...PAID }],
  [
    "its charge, with what it was made with and what the balance took",
    { latest_charge: CHARGE, metadata: {}, customer: "cus_eve" },
    { ...NAMELESS, ...PAID, customer: "cus_eve", charge: OURS },
  ],
  [
    "a charge that is not in the balance",
    { latest_charge: NOT_TAKEN },
    { ...STATE, ...PAID, charge: {} },
  ],
  [
    "what was paid, when it was settled in another currency",
    { latest_charge: { ...CHARGE, balance_transaction: IN_DOLLARS } },
    { ...STATE, ...PAID, charge: OURS },
  ],
])("a PaymentIntent's state has %s", (_what, changes, state) => {
  expect(stripeStateOf({ ...INTENT, latest_charge: null, ...changes })).toStrictEqual(state);
});

test("what another integration made is no entry", () => {
  const intent = { ...INTENT, latest_charge: null };
  expect(intentEntryOf(intent)).toStrictEqual({ what: "intent", ...STATE, ...PAID });
  expect(intentEntryOf({ ...intent, metadata: { message_id: "" } })).toBeUndefined();
});

const MOVED = {
  transactionId: "txn_1",
  category: "charge",
  created: 1_795_953_600_000,
  fee: 66,
  net: 1184,
};
const OUR_CHARGE = { messageId: "order-1", paymentIntentId: "pi_1", ...EUR };

test.each<[string, object, object]>([
  [
    "a charge of ours, by its own metadata, and what the balance took",
    { source: { ...CHARGE, amount: 9 } },
    { ...MOVED, ...EUR, charge: { ...OUR_CHARGE, customer: "cus_ada" } },
  ],
  [
    "a charge of ours that was settled in another currency",
    { ...USD, source: { ...CHARGE, customer: null } },
    { ...MOVED, ...USD, charge: OUR_CHARGE },
  ],
  ["a charge without our id", { source: { ...CHARGE, metadata: {} } }, { ...MOVED, ...EUR }],
  ["one of none", { source: { ...CHARGE, payment_intent: null } }, { ...MOVED, ...EUR }],
  ["a charge that was not read", { source: "ch_1" }, { ...MOVED, ...EUR }],
  ["of nothing", { source: null }, { ...MOVED, ...EUR }],
  [
    "a refund, whatever its source",
    { reporting_category: "refund", amount: -1250, source: CHARGE },
    { ...MOVED, category: "refund", amount: -1250, currency: "eur" },
  ],
])("a movement in the balance is %s", (_what, changes, expected) => {
  const { fee, net } = MOVED;
  const created = 1_795_953_600;
  const moved = { ...TRANSACTION, reporting_category: "charge", created, fee, net, ...changes };
  expect(transactionOf(moved as unknown as Stripe.BalanceTransaction)).toStrictEqual(expected);
});

test.each<[string, object, object]>([
  ["what every payment has", {}, {}],
  [
    "its optional fields",
    { description: "Order 1", statement_descriptor_suffix: "1" },
    { description: "Order 1", statement_descriptor_suffix: "1" },
  ],
  ["an expanded customer", { customer: { id: "cus_ada" } }, {}],
  [
    "the method of a decline",
    { payment_method: null, last_payment_error: { payment_method: { id: "pm_visa" } } },
    {},
  ],
  [
    "a customer and a method that are not known",
    { customer: null, payment_method: null },
    { customer: "unknown", payment_method: "unknown" },
  ],
])("what was sent to Stripe is read back from a PaymentIntent: %s", (_, intent, params) => {
  expect(chargedParamsOf({ ...INTENT, ...intent })).toEqual({ ...PARAMS, ...params });
});
