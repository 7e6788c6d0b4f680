import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { expect, onTestFinished, test } from "vitest";

import { compare } from "../../cli/reconcile/compare.ts";
import { openFindings } from "../../cli/reconcile/findings.ts";
import { openPartitions } from "../../cli/reconcile/partitions.ts";
import type { Entry, IntentEntry, RecordEntry } from "../../cli/reconcile/partitions.ts";
import type { Finding } from "../../cli/reconcile/verify.ts";

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
  ["a claim that is held", [claim({ leaseExpiresAt: NOW + 1 })], { agree: 0, kinds: [] }],
  [
    "a claim that is held, and just paid",
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

test("what goes to disk comes back by message id, after half a line of a killed reconciliation too", async () => {
  const folder = mkdtempSync(join(tmpdir(), "payment-worker-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  for (let part = 0; part < 256; part += 1) {
    writeFileSync(join(folder, `part-${part}.jsonl`), '{"what":"rec');
  }
  const partitions = openPartitions(folder);
  const messages = Array.from({ length: 1_000 }, (_, n) => `order-${n}`);
  for (const messageId of messages) {
    partitions.add(claim({ messageId }));
    partitions.add(intent({ messageId }));
  }
  await partitions.flush();

  const seen = new Map<string, string[]>();
  for (let part = 0; part < partitions.parts; part += 1) {
    const here: string[] = [];
    for await (const { messageId, what } of partitions.read(part))
      here.push(`${messageId} ${what}`);
    for (const entry of here) seen.set(entry, here);
  }

  expect(seen.size).toBe(2_000);
  // Both sides of a message are in one part, or they could not be compared.
  for (const id of messages) expect(seen.get(`${id} record`)).toBe(seen.get(`${id} intent`));
});

test("findings are told once, after half a line of a killed reconciliation too", async () => {
  const folder = mkdtempSync(join(tmpdir(), "payment-worker-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const finding = (messageId: string): Finding => ({
    messageId,
    kind: "open",
    sentence: "nobody holds its claim",
    paymentIntentIds: [],
  });
  const findings = openFindings(folder);
  await findings.add([finding("order-1")]);
  writeFileSync(findings.file, '{"messageId":"ord', { flag: "a" });
  await findings.add([finding("order-1"), finding("order-2")]);

  const told: Finding[] = [];
  for await (const one of findings.all()) told.push(one);

  expect(told).toEqual([finding("order-1"), finding("order-2")]);
});
