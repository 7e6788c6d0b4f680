// Compares the records and the PaymentIntents of one part, both ways.
import { agreementOf } from "../explain/agreement.ts";
import type { Agreement } from "../explain/agreement.ts";
import type { Entry, IntentEntry, RecordEntry } from "./partitions.ts";

/** Something that does not fit, to be read again before it is believed. */
export type Suspicion = {
  messageId: string;
  /** `open`: nobody holds the claim, and Stripe has nothing for it. */
  kind: Exclude<Agreement["kind"], "agree" | "nothing"> | "open";
  /** The PaymentIntents that were seen, and the recorded one. */
  paymentIntentIds: string[];
};

/** `now` is in epoch ms. Entries may come twice, and the later one counts. */
export async function compare(
  entries: AsyncIterable<Entry>,
  { since, until }: { since: number; until: number },
  now: number,
): Promise<{ agree: number; suspicions: Suspicion[] }> {
  const records = new Map<string, RecordEntry>();
  const intents = new Map<string, Map<string, IntentEntry>>();
  for await (const entry of entries) {
    if (entry.what === "record") records.set(entry.messageId, entry);
    else {
      const known = intents.get(entry.messageId) ?? new Map<string, IntentEntry>();
      intents.set(entry.messageId, known.set(entry.paymentIntentId, entry));
    }
  }

  const within = (time: number): boolean => time >= since && time <= until;
  const suspicions: Suspicion[] = [];
  let agree = 0;
  for (const messageId of new Set([...records.keys(), ...intents.keys()])) {
    const record = records.get(messageId);
    const truths = [...(intents.get(messageId)?.values() ?? [])];
    const kind = suspect(record, truths, within, now);
    if (kind === "agree") agree += 1;
    if (kind === "agree" || kind === "beyond") continue;
    const recorded = record?.outcome?.paymentIntentId;
    const seen = truths.map(({ paymentIntentId }) => paymentIntentId);
    const paymentIntentIds = [...new Set(recorded === undefined ? seen : [...seen, recorded])];
    suspicions.push({ messageId, kind, paymentIntentIds });
  }
  return { agree, suspicions };
}

/** `beyond`: only the margin of the period was read of it, and says nothing. */
function suspect(
  record: RecordEntry | undefined,
  truths: readonly IntentEntry[],
  within: (time: number) => boolean,
  now: number,
): Suspicion["kind"] | "agree" | "beyond" {
  const { kind } = agreementOf(record, truths);
  const held = record !== undefined && !record.outcome && record.leaseExpiresAt > now;
  switch (kind) {
    case "agree":
      return record && within(record.firstClaimedAt) ? "agree" : "beyond";
    case "nothing":
      return record && !held ? "open" : "beyond";
    case "not_recorded":
      // A claim that nobody holds is reported whenever it was charged.
      return !held && (record || truths.some(({ created }) => within(created))) ? kind : "beyond";
    case "not_at_stripe":
      return record && within(record.firstClaimedAt) ? kind : "beyond";
    case "moved_on":
    case "different":
    case "charged_twice":
      return kind;
  }
}
