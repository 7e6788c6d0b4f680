import { expect, test } from "vitest";

import type { IdempotencyRecord } from "../../../lib/payments/record.ts";
import type { StripeState } from "../../../lib/reconcile/comparison.ts";
import {
  addVerified,
  findingOf,
  unrecordedState,
  wrongAccount,
} from "../../../lib/reconcile/finding.ts";
import { noTotals } from "../../../lib/reconcile/money.ts";
import { claimed } from "../../support/record.ts";

const NOW = Date.parse("2026-11-29T12:00:00Z");
const PAID = { result: "succeeded", paymentIntentId: "pi_1" } as const;

const CLAIM = claimed({ leaseExpiresAt: NOW, attempt: 3, firstClaimedAt: NOW - 60_000 });
const COMPLETED: IdempotencyRecord = { ...CLAIM, status: "COMPLETED", outcome: PAID };

const MINE = { messageId: "order-1", customer: "cus_ada", amount: 1_200, currency: "eur" };
const paid = (paymentIntentId: string, created = NOW - 50_000): StripeState => ({
  ...MINE,
  paymentIntentId,
  status: "succeeded",
  created,
  outcome: { result: "succeeded", paymentIntentId },
});
const declined: StripeState = {
  ...MINE,
  paymentIntentId: "pi_0",
  status: "requires_payment_method",
  created: NOW - 55_000,
  outcome: { result: "declined", paymentIntentId: "pi_0", code: "card_declined" },
};

test.each<[string, IdempotencyRecord | undefined, StripeState[]]>([
  ["what a worker has recorded meanwhile", COMPLETED, [paid("pi_1")]],
  ["a claim under a live lease", { ...CLAIM, leaseExpiresAt: NOW + 1 }, [paid("pi_1")]],
  ["a message that neither side has", undefined, []],
])("%s is no finding", (_, record, states) => {
  expect(findingOf("order-1", record, states, NOW)).toBeUndefined();
});

test("a claim that nobody holds, and nothing at Stripe, is stuck", () => {
  const finding = { messageId: "order-1", kind: "open", atStripe: [] };

  expect(findingOf("order-1", CLAIM, [], NOW)).toEqual(finding);
});

test("what was created five minutes before the claim is its own, and anything earlier is another payment's", () => {
  const own = paid("pi_1", NOW - 360_000);
  const another = paid("pi_2", NOW - 360_001);

  expect(findingOf("order-1", CLAIM, [own, another], NOW)).toEqual({
    messageId: "order-1",
    kind: "not_recorded",
    atStripe: [own],
  });
  expect(findingOf("order-1", CLAIM, [another], NOW)).toMatchObject({ kind: "open" });
});

test("a lease protects a claim, and no completed record", () => {
  const record = { ...COMPLETED, leaseExpiresAt: NOW + 1 };

  expect(findingOf("order-1", record, [], NOW)).toMatchObject({ kind: "not_at_stripe" });
});

test("a completed record is compared with everything that Stripe has, however old", () => {
  const states = [paid("pi_1"), paid("pi_2", NOW - 360_001)];

  expect(findingOf("order-1", COMPLETED, states, NOW)).toEqual({
    messageId: "order-1",
    kind: "charged_twice",
    recorded: PAID,
    atStripe: states,
  });
});

test("of a decline and a payment, the payment is to be recorded; of another finding, nothing", () => {
  const unrecorded = findingOf("order-1", undefined, [declined, paid("pi_1")], NOW);
  const different = findingOf("order-1", COMPLETED, [paid("pi_2")], NOW);

  expect(unrecorded && unrecordedState(unrecorded)).toEqual(paid("pi_1"));
  expect(different).toMatchObject({ kind: "different" });
  expect(different && unrecordedState(different)).toBeUndefined();
});

const IN_BALANCE = { amount: 1_200, currency: "eur" };
const CHARGE = { messageId: "order-1", customer: "cus_ada", inBalance: IN_BALANCE };
const CAPTURED_LATE = NOW - 2 * 3_600_000;
const RECORDED = { ...COMPLETED, ...IN_BALANCE, firstClaimedAt: CAPTURED_LATE };
/** Paid by pi_1 two hours ago, with its charge, but for what a test changes. */
const state = (changes: Partial<StripeState> = {}): StripeState => ({
  ...paid("pi_1", CAPTURED_LATE),
  charge: CHARGE,
  ...changes,
});
const { inBalance: _balance, ...NOT_IN_BALANCE } = CHARGE;
const { outcome: _paid, ...AUTHORIZED } = paid("pi_2");
const took = (amount: number, currency: string) =>
  state({ charge: { ...CHARGE, inBalance: { amount, currency } } });
const ANOTHERS = state({ charge: { ...CHARGE, messageId: "order-0" } });
const LACKING = state({ charge: NOT_IN_BALANCE });
const LACKING_YET = state({ charge: NOT_IN_BALANCE, created: CAPTURED_LATE + 1 });
const recorded = (result: "processing" | "requires_action"): IdempotencyRecord => ({
  ...RECORDED,
  outcome: { result, paymentIntentId: "pi_1" },
});
const DEBIT = recorded("processing");
const ACTION = recorded("requires_action");
const WITHOUT_INTENT: IdempotencyRecord = {
  ...RECORDED,
  outcome: { result: "declined", code: "c" },
};

test.each<[string, IdempotencyRecord | undefined, StripeState[], string | undefined]>([
  ["paid, recorded and in the balance", RECORDED, [state()], undefined],
  ["another amount", RECORDED, [state({ amount: 1_100 })], "amount_differs"],
  ["another amount in the balance", RECORDED, [took(1_199, "eur")], "balance_differs"],
  ["another currency in the balance", RECORDED, [took(1_200, "usd")], "balance_differs"],
  ["the balance of an earlier version's", COMPLETED, [took(1_199, "eur")], "balance_differs"],
  ["not in the balance after two hours", RECORDED, [LACKING], "balance_differs"],
  ["not in the balance yet", RECORDED, [LACKING_YET], undefined],
  ["not in the balance, beside a decline", RECORDED, [LACKING, declined], "balance_differs"],
  ["a bank debit that is not in it", DEBIT, [{ ...LACKING, outcome: DEBIT.outcome! }], undefined],
  ["an id that was changed", RECORDED, [state({ messageId: "order-2" })], "edited"],
  [
    "an id that was changed, of a payment without a charge",
    ACTION,
    [{ ...paid("pi_1", CAPTURED_LATE), messageId: "order-2", outcome: ACTION.outcome! }],
    "edited",
  ],
  ["another's charge, whose id was changed to this", undefined, [ANOTHERS], "edited"],
  [
    "another's charge beside its own",
    RECORDED,
    [state(), { ...ANOTHERS, paymentIntentId: "pi_2" }],
    "edited",
  ],
  ["another's charge, recorded for this", RECORDED, [ANOTHERS], "not_at_stripe"],
  [
    "two charges, of which one was edited away",
    RECORDED,
    [state(), { ...paid("pi_2"), messageId: "order-9", charge: CHARGE }],
    "charged_twice",
  ],
  [
    "another's payment beside its own",
    RECORDED,
    [state(), { ...paid("pi_2"), messageId: "order-9" }],
    "edited",
  ],
  ["a decline without a PaymentIntent", WITHOUT_INTENT, [], undefined],
  ["beside an authorization", RECORDED, [state(), AUTHORIZED], undefined],
  ["a customer that was changed", RECORDED, [state({ customer: "cus_eve" })], "edited"],
  [
    "a charge without a customer",
    RECORDED,
    [state({ charge: { messageId: "order-1", inBalance: IN_BALANCE } })],
    undefined,
  ],
])("with its charge: %s", (_, record, states, kind) => {
  expect(findingOf("order-1", record, states, NOW)?.kind).toBe(kind);
});

test("a finding has what is recorded with its amount, where that is known", () => {
  const differs = findingOf("order-1", { ...RECORDED, amount: 1_199 }, [state()], NOW);
  expect(differs?.recorded).toStrictEqual({ ...PAID, amount: 1_199, currency: "eur" });
  expect(findingOf("order-1", COMPLETED, [], NOW)?.recorded).toStrictEqual(PAID);
});

const CANCELED: StripeState = {
  ...paid("pi_1"),
  status: "canceled",
  outcome: { result: "canceled", paymentIntentId: "pi_1" },
};
const EUR = { eur: { count: 1, amount: 1_200 } };
const TWICE = { eur: { count: 2, amount: 2_400 } };
const DECLINED = {
  ...RECORDED,
  outcome: { result: "declined", paymentIntentId: "pi_1", code: "c" } as const,
};
const LATE_CLAIM = { ...CLAIM, firstClaimedAt: CAPTURED_LATE };
const SECOND = { paymentIntentId: "pi_2" };
const JUST_NOW = state({ charge: NOT_IN_BALANCE, created: NOW - 1 });

test.each<[string, IdempotencyRecord | undefined, StripeState[], object, object]>([
  ["paid, recorded and in the balance", RECORDED, [state()], EUR, EUR],
  ["recorded by an earlier version", COMPLETED, [state()], EUR, EUR],
  ["charged and not recorded", undefined, [state()], {}, EUR],
  ["charged, and a claim", LATE_CLAIM, [state()], {}, EUR],
  ["charged, and a claim with its amount", { ...LATE_CLAIM, ...IN_BALANCE }, [state()], {}, EUR],
  ["beside a decline", RECORDED, [declined, state()], EUR, EUR],
  ["not in the balance yet, beside a decline", RECORDED, [declined, JUST_NOW], {}, {}],
  ["canceled at Stripe just now", RECORDED, [CANCELED], EUR, {}],
  ["recorded and not at Stripe", RECORDED, [], EUR, {}],
  ["not at Stripe, and no amount recorded", COMPLETED, [], {}, {}],
  ["not in the balance", RECORDED, [LACKING], EUR, {}],
  ["not in the balance yet", RECORDED, [JUST_NOW], {}, {}],
  ["charged twice", RECORDED, [state(), state(SECOND)], EUR, TWICE],
  ["another's charge", RECORDED, [state(), { ...ANOTHERS, ...SECOND }], EUR, EUR],
  ["a bank debit that is submitted", DEBIT, [state()], EUR, EUR],
  ["a bank debit that is not submitted", DEBIT, [LACKING], {}, {}],
  ["a decline that is in the balance", DECLINED, [state()], {}, EUR],
  ["an action that was not taken, and is in the balance", ACTION, [state()], {}, EUR],
])("the sums of what was read again: %s", (_, record, states, recorded, inBalance) => {
  const totals = noTotals();
  addVerified(totals, "order-1", record, states, NOW);
  expect(totals).toEqual({ recorded, inBalance, settled: {}, other: {} });
});

test("20 records that Stripe does not have, and nothing else of ours there, is another account", () => {
  expect(wrongAccount(0, 19)).toBeUndefined();
  expect(wrongAccount(1, 20)).toBeUndefined();
  expect(wrongAccount(0, 20)).toContain("none of the first 20 that are recorded");
});
