import { expect, test } from "vitest";

import { compare } from "../../../lib/reconcile/compare.ts";
import type { Entry, IntentEntry, RecordEntry } from "../../../lib/reconcile/compare.ts";

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

test.each<[string, Entry[], { agree: number; kinds: string[] }]>([
  ["paid and recorded", [claim({ outcome: PAID }), intent()], { agree: 1, kinds: [] }],
  [
    "paid and recorded as the period began",
    [claim({ outcome: PAID, firstClaimedAt: PERIOD.since }), intent()],
    { agree: 1, kinds: [] },
  ],
  [
    "paid and recorded as the period ended",
    [claim({ outcome: PAID, firstClaimedAt: PERIOD.until }), intent()],
    { agree: 1, kinds: [] },
  ],
  [
    "paid and recorded before the period",
    [claim({ outcome: PAID, firstClaimedAt: before }), intent({ created: before })],
    { agree: 0, kinds: [] },
  ],
  [
    "recorded in the period, not at Stripe",
    [claim({ outcome: PAID })],
    { agree: 0, kinds: ["not_at_stripe"] },
  ],
  [
    "recorded before the period, not read from Stripe",
    [claim({ outcome: PAID, firstClaimedAt: before })],
    { agree: 0, kinds: [] },
  ],
  ["paid in the period, no record", [intent()], { agree: 0, kinds: ["not_recorded"] }],
  [
    "paid before the period, record not kept",
    [intent({ created: before })],
    { agree: 0, kinds: [] },
  ],
  ["a claim that nobody holds", [claim()], { agree: 0, kinds: ["open"] }],
  [
    "an old claim that nobody holds",
    [claim({ firstClaimedAt: before })],
    { agree: 0, kinds: ["open"] },
  ],
  [
    "an old claim that nobody holds, and was paid then",
    [claim({ firstClaimedAt: before }), intent({ created: before })],
    { agree: 0, kinds: ["not_recorded"] },
  ],
  ["a claim under a live lease", [claim({ leaseExpiresAt: NOW + 1 })], { agree: 0, kinds: [] }],
  [
    "a claim under a live lease, and just paid",
    [claim({ leaseExpiresAt: NOW + 1 }), intent()],
    { agree: 0, kinds: [] },
  ],
  [
    "the same read twice by an interrupted reconciliation",
    [claim({ outcome: PAID }), intent(), claim({ outcome: PAID }), intent()],
    { agree: 1, kinds: [] },
  ],
  [
    "a claim that was completed between two reads of it",
    [claim(), claim({ outcome: PAID }), intent()],
    { agree: 1, kinds: [] },
  ],
  [
    "two payments under one id",
    [claim({ outcome: PAID }), intent(), intent({ paymentIntentId: "pi_2" })],
    { agree: 0, kinds: ["charged_twice"] },
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
