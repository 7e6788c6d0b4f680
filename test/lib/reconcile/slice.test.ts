// Slices of a reconciliation, of books in memory.

import { expect, test } from "vitest";

import type { Finding } from "../../../lib/reconcile/finding.ts";
import { noTotals } from "../../../lib/reconcile/money.ts";
import type { Transaction } from "../../../lib/reconcile/money.ts";
import { newRun } from "../../../lib/reconcile/run.ts";
import type { Run } from "../../../lib/reconcile/run.ts";
import { nextSlice } from "../../../lib/reconcile/slice.ts";
import type { Slice } from "../../../lib/reconcile/slice.ts";
import { booksOf, intent, MONEY, outcome, record } from "../../support/books.ts";
import type { Held } from "../../support/books.ts";

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const UNTIL = Date.parse("2026-11-29T10:00:00Z");
const SINCE = UNTIL - DAY;
const NOW = UNTIL + 2 * HOUR;
const movement = (n: number, created: number): Transaction => ({
  transactionId: `txn_${n}`,
  category: "charge",
  created,
  ...MONEY,
  fee: 60,
  net: 1_140,
  charge: { messageId: `order-${n}`, paymentIntentId: `pi_${n}`, ...MONEY },
});
const REFUND = { category: "refund", amount: -200, currency: "eur", fee: 0, net: -200 };
/** Both sides of payments that were made at these times, newest first. */
const paidAt = (...times: number[]) => ({
  intents: times.map((time, n) => intent(n, time)),
  records: times.map((time, n) => record(`order-${n}`, time, outcome(n))),
  transactions: times.map((time, n) => movement(n, time)),
});

function prepare(held: Held) {
  const { books, asked } = booksOf(held, UNTIL);
  /** The next slice, when there is time for so many looks at the clock. */
  const slice = (run: Run, looks = Infinity): Promise<Slice | undefined> =>
    nextSlice(books, run, NOW, {
      sweepAfterMs: HOUR,
      openTooLongMs: 20 * DAY,
      hasTime: () => (looks -= 1) >= 0,
    });
  const whole = async (before: Run) => {
    const slices: Slice[] = [];
    for (let run = before; run.until > SINCE; run = slices.at(-1)?.run ?? run) {
      const next = await slice(run);
      if (next) slices.push(next);
      if (slices.length > 9) throw new Error("It does not come to an end.");
    }
    return slices;
  };
  return { asked, slice, whole };
}

const begin = (slicePayments = 50_000, startedAt = NOW): Run =>
  newRun({ since: SINCE, until: UNTIL }, startedAt, slicePayments);
const MINUTE = 60_000;

test("slices follow each other without a gap, never part a second, and count each payment once", async () => {
  const { asked, whole } = prepare(
    paidAt(UNTIL - 1_000, UNTIL - 2_000, UNTIL - 2_000, UNTIL - 3_000, SINCE),
  );

  const slices = await whole(begin(1));

  expect(slices.map(({ run }) => run.until - UNTIL)).toEqual([-1_000, -2_000, -3_000, -DAY]);
  expect(slices.map(({ run }) => [run.intents, run.records, run.agree])).toEqual([
    [1, 1, 1],
    [3, 3, 3],
    [4, 4, 4],
    [5, 5, 5],
  ]);
  expect(asked).toEqual([
    ["intents", -DAY, 0],
    ["transactions", -1_000 - 5 * MINUTE, 5 * MINUTE],
    ["records", -1_000 - HOUR, HOUR, true],
    ["intents", -DAY, -1_000],
    ["transactions", -2_000 - 5 * MINUTE, -1_000 + 5 * MINUTE],
    ["records", -2_000 - HOUR, -1_000 + HOUR, false],
    ["intents", -DAY, -2_000],
    ["transactions", -3_000 - 5 * MINUTE, -2_000 + 5 * MINUTE],
    ["records", -3_000 - HOUR, -2_000 + HOUR, false],
    ["intents", -DAY, -3_000],
    ["transactions", -DAY - 5 * MINUTE, -3_000 + 5 * MINUTE],
    ["records", -DAY - HOUR, -3_000 + HOUR, false],
  ]);
  expect(slices.at(-1)?.run.totals).toEqual({
    recorded: { eur: { count: 5, amount: 6_000 } },
    inBalance: { eur: { count: 5, amount: 6_000 } },
    settled: { eur: { count: 5, amount: 6_000, fee: 300, net: 5_700 } },
    other: {},
  });
});

test("a slice may have as many payments as it should, of one second even more", async () => {
  const { slice } = prepare(paidAt(UNTIL - 1_000, UNTIL - 2_000, UNTIL - 2_000, UNTIL - 2_000));

  expect((await slice(begin(2)))?.run).toMatchObject({ until: SINCE, intents: 4 });
});

test("a payment of the margin counts in no slice but its own", async () => {
  const { slice } = prepare({
    intents: [],
    records: [record("after", UNTIL, outcome(1)), record("before", SINCE - 1, outcome(2))],
    transactions: [movement(1, UNTIL), movement(2, SINCE - 1)],
  });

  expect(await slice(begin())).toEqual({
    run: { ...begin(), until: SINCE },
    found: [],
    openTooLong: [],
  });
});

test("when the time is up before both sides are read, nothing of the slice counts", async () => {
  const before = begin();
  const { slice } = prepare(paidAt(UNTIL - 1_000, UNTIL - 2_000));

  for (const looks of [0, 1, 2, 3, 4]) expect(await slice(before, looks)).toBeUndefined();
  expect(before).toEqual(begin());
  expect((await slice(before, 5))?.run).toMatchObject({ agree: 2, records: 2, intents: 2 });
});

test.each([
  [1_001, 3, undefined],
  [1_001, 5, { byKind: { not_recorded: 2 }, unread: 0 }],
  [1_000, 3, { byKind: {}, unread: 2 }],
  [1_000, 4, { byKind: { not_recorded: 1 }, unread: 1 }],
])(
  "of a slice of %i payments, %i looks at the clock leave what there was no time to read again",
  async (slicePayments, looks, expected) => {
    const { intents } = paidAt(UNTIL - 1_000, UNTIL - 2_000);
    const ended = await prepare({ intents }).slice(begin(slicePayments), looks);
    const { byKind, unread } = ended?.run ?? {};
    expect(ended && { byKind, unread }).toEqual(expected);
  },
);

test("a difference is read again with its PaymentIntents and money, and counted", async () => {
  const { intents, transactions } = paidAt(UNTIL - 1_000);
  const { asked, slice } = prepare({ intents, transactions });

  const ended = await slice({ ...begin(), byKind: { not_recorded: 2 } });

  expect(asked.slice(3)).toEqual([
    ["record", "order-0"],
    ["states", "order-0", ["pi_0"], true],
  ]);
  expect(ended?.found).toMatchObject([{ kind: "not_recorded", messageId: "order-0" }]);
  expect(ended?.run.byKind).toEqual({ not_recorded: 3 });
  expect(ended?.run.totals.recorded).toEqual({});
  expect(ended?.run.totals.inBalance).toEqual({ eur: { count: 1, amount: 1_200 } });
});

test("what was recorded between two reads is no finding, and a refund is none", async () => {
  const { slice } = prepare({
    intents: [intent(0, UNTIL - 1_000)],
    transactions: [
      movement(0, UNTIL - 1_000),
      { ...REFUND, transactionId: "txn_r", created: UNTIL - 1_000 },
    ],
    later: record("order-0", UNTIL - 1_000, outcome(0)),
  });

  expect(await slice(begin())).toMatchObject({
    found: [],
    run: {
      byKind: {},
      totals: {
        recorded: { eur: { count: 1, amount: 1_200 } },
        inBalance: { eur: { count: 1, amount: 1_200 } },
        other: { refund: { eur: { count: 1, amount: -200 } } },
      },
    },
  });
});

test("what differs and is of another period is in no sum of this one", async () => {
  const { slice } = prepare({
    records: [record("order-0", SINCE - HOUR)],
    intents: [intent(0, SINCE)],
  });

  const ended = await slice(begin());

  expect(ended?.found).toMatchObject([{ kind: "not_recorded" }]);
  expect(ended?.run.totals).toEqual(noTotals());
});

test("without the balance all else is compared, and no slice asks for it again", async () => {
  const both = paidAt(UNTIL - 1_000, UNTIL - 2_000);
  const { asked, whole } = prepare({
    ...both,
    records: [{ ...both.records[0]!, amount: 1_199 }, ...both.records.slice(1)],
    transactions: [...both.transactions, undefined],
  });

  const slices = await whole(begin(1));

  expect(asked.filter(([what]) => what === "transactions")).toHaveLength(1);
  expect(asked.find(([what]) => what === "states")).toEqual(["states", "order-0", ["pi_0"], false]);
  expect(slices.at(-1)?.run).toMatchObject({
    balanceRead: false,
    agree: 1,
    byKind: { amount_differs: 1 },
  });
  const { recorded, inBalance } = slices.at(-1)?.run.totals ?? noTotals();
  expect([recorded, inBalance]).toEqual([{}, {}]);
});

test("a claim is found once, by the first slice, whichever it is of", async () => {
  const { intents, records } = paidAt(UNTIL - 1_000, UNTIL - 2_000);
  const { whole } = prepare({
    intents,
    records: [...records, record("young", UNTIL - 2_000), record("old", SINCE - DAY)],
    transactions: [undefined],
  });

  const slices = await whole(begin(1));

  expect(slices.map(({ found }) => found.map(({ messageId }) => messageId))).toEqual([
    ["young", "old"],
    [],
  ]);
});

const bankDebit = (n: number, firstClaimedAt: number) =>
  record(`order-${n}`, firstClaimedAt, outcome(n, "processing"));

test.each([
  ["advanced", { advanced: 2, openTooLong: [] }],
  ["duplicate", { advanced: 0, openTooLong: ["order-2"] }],
] as const)(
  "open outcomes of an hour are asked about, once; those that stay so for 20 days are named (%s)",
  async (finalized, expected) => {
    const { asked, slice } = prepare({
      records: [
        bankDebit(0, NOW - HOUR + 1),
        bankDebit(1, NOW - 20 * DAY + 1),
        record("order-2", NOW - 20 * DAY, { result: "requires_action", paymentIntentId: "pi_2" }),
        record("order-3", SINCE - DAY),
      ],
      finalized,
    });
    const before = { ...begin(), openTooLong: ["earlier"] };

    const ended = await slice(before);

    expect(asked.filter(([what]) => what === "finalize")).toEqual([
      ["finalize", "pi_1"],
      ["finalize", "pi_2"],
    ]);
    expect(ended?.run).toMatchObject({
      advanced: expected.advanced,
      openTooLong: ["earlier", ...expected.openTooLong],
    });
    expect(ended?.openTooLong).toEqual(expected.openTooLong);
    // Another slice asks nobody.
    asked.length = 0;
    await slice({
      ...before,
      until: UNTIL - 1_000,
      window: { since: SINCE - 30 * DAY, until: UNTIL },
    });
    expect(asked.filter(([what]) => what === "finalize")).toEqual([]);
  },
);

test("an outcome is asked about an hour after its claim, before what differs is read", async () => {
  const { asked, slice } = prepare({
    records: [bankDebit(0, NOW - HOUR), record("stuck", SINCE)],
  });
  await slice(begin());
  expect(asked.slice(3).map(([what, id]) => [what, id])).toEqual([
    ["finalize", "pi_0"],
    ["record", "stuck"],
    ["states", "stuck"],
  ]);
});

test("open outcomes that there is no time to ask about are counted", async () => {
  const records = [bankDebit(0, SINCE - 2 * DAY), bankDebit(1, SINCE - 2 * DAY)];
  const { asked, slice } = prepare({ records });
  expect((await slice(begin(), 4))?.run).toMatchObject({ unread: 1 });
  expect(asked.at(-1)).toEqual(["finalize", "pi_0"]);
});

test.each([
  [3, 500, 1_499],
  [2, 2_000, 499],
  [5, 0, 999],
])(
  "of 2,500 open outcomes, hour %i asks about a thousand, from %i to %i",
  async (hour, first, last) => {
    const records = Array.from({ length: 2_500 }, (_, n) => bankDebit(n, SINCE - 2 * DAY));
    const { asked, slice } = prepare({ records });
    await slice(begin(50_000, hour * HOUR + 59 * MINUTE));
    const finalized = asked.filter(([what]) => what === "finalize").map(([, id]) => id);
    expect(finalized).toHaveLength(1_000);
    expect([finalized[0], finalized[999]]).toEqual([`pi_${first}`, `pi_${last}`]);
  },
);

test("a thousand findings are kept, and all are counted and reported", async () => {
  const { intents } = paidAt(...Array.from({ length: 999 }, () => UNTIL - 1_000));
  const { slice } = prepare({ intents });
  const earlier: Finding = { messageId: "earlier", kind: "edited", atStripe: [] };
  const ended = await slice({ ...begin(), findings: [earlier, earlier] });
  expect(ended?.found).toHaveLength(999);
  expect(ended?.run.findings).toHaveLength(1_000);
  expect(ended?.run.findings.slice(0, 3)).toMatchObject([
    { messageId: "earlier" },
    { messageId: "earlier" },
    { messageId: "order-0" },
  ]);
  expect(ended?.run.byKind).toEqual({ not_recorded: 999 });
});
