import { expect, test } from "vitest";

import { compare } from "../../../lib/reconcile/compare.ts";
import type {
  Entry,
  IntentEntry,
  MoneyEntry,
  RecordEntry,
} from "../../../lib/reconcile/compare.ts";
import { noTotals } from "../../../lib/reconcile/money.ts";

const NOW = Date.parse("2026-11-29T12:00:00Z");
const HOUR = 3_600_000;
const PERIOD = { since: NOW - 24 * HOUR, until: NOW };
const PAID = { result: "succeeded", paymentIntentId: "pi_1" } as const;

const claim = (changes: Partial<RecordEntry> = {}): RecordEntry => ({
  what: "record",
  messageId: "order-1",
  firstClaimedAt: NOW - HOUR,
  leaseExpiresAt: 0,
  ...changes,
});
const intent = (changes: Partial<IntentEntry> = {}): IntentEntry => ({
  what: "intent",
  messageId: "order-1",
  paymentIntentId: "pi_1",
  created: NOW - HOUR,
  status: "succeeded",
  outcome: PAID,
  amount: 1_200,
  currency: "eur",
  ...changes,
});

async function* all(entries: Entry[]): AsyncGenerator<Entry> {
  yield* entries;
}

async function compared(...entries: Entry[]) {
  const { agree, suspicions } = await compare(all(entries), PERIOD, NOW);
  return { agree, kinds: suspicions.map(({ kind }) => kind) };
}

const before = NOW - 25 * HOUR;
const DEBIT = { ...PAID, result: "processing" } as const;
const { outcome: _, ...AUTHORIZED } = intent({ status: "requires_capture" });
const found = (kind: string) => ({ agree: 0, kinds: [kind] });

const paidAt = (firstClaimedAt: number) => claim({ outcome: PAID, firstClaimedAt });
const PAID_CLAIM = claim({ outcome: PAID });
const LIVE = claim({ leaseExpiresAt: NOW + 1 });
const AGREE = { agree: 1, kinds: [] };
const NOTHING = { agree: 0, kinds: [] };

test.each<[string, Entry[], { agree: number; kinds: string[] }]>([
  ["paid and recorded", [PAID_CLAIM, intent()], AGREE],
  ["paid and recorded as the period began", [paidAt(PERIOD.since), intent()], AGREE],
  ["paid and recorded as the period ended", [paidAt(PERIOD.until), intent()], AGREE],
  ["paid and recorded before the period", [paidAt(before), intent({ created: before })], NOTHING],
  ["paid and recorded after the period", [paidAt(PERIOD.until + 1), intent()], NOTHING],
  ["recorded in the period, not at Stripe", [PAID_CLAIM], found("not_at_stripe")],
  ["recorded before the period, not read from Stripe", [paidAt(before)], NOTHING],
  ["paid in the period, no record", [intent()], found("not_recorded")],
  ["paid before the period, record not kept", [intent({ created: before })], NOTHING],
  ["authorized in the period, no record", [AUTHORIZED], NOTHING],
  ["a bank debit that arrived", [claim({ outcome: DEBIT }), intent()], found("advanced")],
  [
    "a bank debit that was canceled",
    [claim({ outcome: DEBIT }), intent({ outcome: { ...PAID, result: "canceled" } })],
    found("advanced_unpaid"),
  ],
  [
    "another amount than recorded",
    [claim({ outcome: PAID, amount: 1_199, currency: "eur" }), intent()],
    found("amount_differs"),
  ],
  [
    "a claim that nobody holds, from the period's last moment",
    [claim({ firstClaimedAt: PERIOD.until })],
    found("open"),
  ],
  ["a claim that nobody holds", [claim()], found("open")],
  ["an old claim that nobody holds", [claim({ firstClaimedAt: before })], found("open")],
  [
    "an old claim that nobody holds, and was paid then",
    [claim({ firstClaimedAt: before }), intent({ created: before })],
    found("not_recorded"),
  ],
  [
    "a claim that is younger than the period, perhaps between two tries",
    [claim({ firstClaimedAt: PERIOD.until + 1 })],
    NOTHING,
  ],
  ["a claim under a live lease", [LIVE], NOTHING],
  ["a claim under a live lease, and just paid", [LIVE, intent()], NOTHING],
  ["the same read twice", [PAID_CLAIM, intent(), PAID_CLAIM, intent()], AGREE],
  ["a claim that was completed between two reads", [claim(), PAID_CLAIM, intent()], AGREE],
  [
    "two payments under one id",
    [PAID_CLAIM, intent(), intent({ paymentIntentId: "pi_2" })],
    found("charged_twice"),
  ],
])("%s", async (_, entries, expected) => {
  expect(await compared(...entries)).toEqual(expected);
});

test("a suspicion names what was seen and what is recorded, to be read again", async () => {
  const entries = [claim({ outcome: PAID }), intent({ paymentIntentId: "pi_2" })];

  const { suspicions } = await compare(all(entries), PERIOD, NOW);

  expect(suspicions).toEqual([
    { messageId: "order-1", kind: "different", paymentIntentIds: ["pi_2", "pi_1"], counted: true },
  ]);
});

const money = (changes: Partial<MoneyEntry> = {}): MoneyEntry => ({
  what: "money",
  messageId: "order-1",
  transactionId: "txn_1",
  paymentIntentId: "pi_1",
  customer: "cus_ada",
  created: NOW - HOUR,
  amount: 1_200,
  currency: "eur",
  ...changes,
});
const EUR = { eur: { count: 1, amount: 1_200 } };
const PAID_RECORD = claim({ outcome: PAID, amount: 1_200, currency: "eur" });
const ADA = { customer: "cus_ada" };
const DECLINED = intent({
  customer: "cus_eve",
  paymentIntentId: "pi_0",
  outcome: { result: "declined", paymentIntentId: "pi_0", code: "c" },
});
const ofResult = (result: "processing" | "failed" | "declined" | "requires_action") => {
  const outcome = { result, paymentIntentId: "pi_1", code: "c" };
  return [claim({ outcome, amount: 1_200, currency: "eur" }), intent({ ...ADA, outcome })];
};

const EVE = intent({ customer: "cus_eve" });
const differs = (kind: string) => ({ agree: 0, kinds: [kind], counted: false });
const uncounted = { agree: 0, counted: false };

test.each<[string, Entry[], { agree?: number; kinds?: string[]; counted?: boolean }]>([
  ["paid, recorded and in the balance", [PAID_RECORD, intent(ADA), money()], {}],
  ["the same, recorded by an earlier version", [PAID_CLAIM, intent(ADA), money()], {}],
  ["the same movement, read twice", [PAID_RECORD, intent(ADA), money(), money()], {}],
  ["not in the balance", [PAID_RECORD, intent(ADA)], differs("balance_differs")],
  [
    "another amount in the balance",
    [PAID_RECORD, intent(ADA), money({ amount: 1_199 })],
    differs("balance_differs"),
  ],
  [
    "another currency in the balance",
    [PAID_RECORD, intent(ADA), money({ currency: "usd" })],
    differs("balance_differs"),
  ],
  [
    "twice in the balance",
    [PAID_RECORD, intent(ADA), money(), money({ transactionId: "txn_2" })],
    differs("balance_differs"),
  ],
  ["in the balance for another customer", [PAID_RECORD, EVE, money()], differs("edited")],
  ["the same, beside a decline", [PAID_RECORD, EVE, DECLINED, money()], differs("edited")],
  ["beside another customer's decline", [PAID_RECORD, intent(ADA), DECLINED, money()], {}],
  ["in the balance under a live lease", [LIVE, money()], uncounted],
  ["a bank debit that is not submitted yet", ofResult("processing"), { counted: false }],
  ["a bank debit that is", [...ofResult("processing"), money()], {}],
  ["a bank debit that failed later", [...ofResult("failed"), money()], {}],
  ["a decline", ofResult("declined"), { counted: false }],
  [
    "a decline that is in the balance",
    [...ofResult("declined"), money()],
    differs("balance_differs"),
  ],
  [
    "an action that was not taken, and is in the balance",
    [...ofResult("requires_action"), money()],
    differs("balance_differs"),
  ],
  ["in the balance alone", [money()], differs("not_recorded")],
  ["in the balance alone, before the period", [money({ created: before })], uncounted],
  [
    "in the balance, and recorded before the period",
    [{ ...PAID_RECORD, firstClaimedAt: before }, money()],
    uncounted,
  ],
])("with the balance: %s", async (_, entries, { agree = 1, kinds = [], counted = true }) => {
  const totals = noTotals();
  const found = await compare(all(entries), PERIOD, NOW, totals);
  expect(found.suspicions.map(({ kind }) => kind)).toEqual(kinds);
  expect(found.agree).toBe(agree);
  const sums = counted ? EUR : {};
  expect(totals).toEqual({ recorded: sums, inBalance: sums, settled: {}, other: {} });
});

test("a suspicion counts in the sums of the period that its claim is of, and else of its charge", async () => {
  const countedOf = async (...entries: Entry[]) =>
    (await compare(all(entries), PERIOD, NOW, noTotals())).suspicions.map(({ counted }) => counted);
  const pair = (first: number, second: number) => [
    intent({ created: first }),
    intent({ paymentIntentId: "pi_2", created: second }),
  ];
  const within = NOW - HOUR;
  expect(await countedOf(PAID_CLAIM, ...pair(within, within))).toEqual([true]);
  expect(await countedOf(paidAt(before), ...pair(within, within))).toEqual([false]);
  expect(await countedOf(...pair(within, within))).toEqual([true]);
  expect(await countedOf(...pair(within, before))).toEqual([true]);
  expect(await countedOf(...pair(before, before))).toEqual([false]);
});
