// Compares the records and the PaymentIntents of one part of all message ids, both ways.

import type { IdempotencyRecord } from "../payments/record.ts";
import { compareWithStripe } from "./comparison.ts";
import type { Difference, StripeState } from "./comparison.ts";

/** What a comparison needs of an idempotency record. */
export type RecordEntry = { what: "record" } & Pick<
  IdempotencyRecord,
  "messageId" | "firstClaimedAt" | "leaseExpiresAt" | "outcome"
>;

/** What a comparison needs of a PaymentIntent. */
export type IntentEntry = { what: "intent"; messageId: string } & StripeState;

export type Entry = RecordEntry | IntentEntry;

/** What may be a difference, to be read again before it is reported. */
export type Suspicion = {
  messageId: string;
  kind: Difference;
  /** The PaymentIntents that were seen, and the recorded one. */
  paymentIntentIds: string[];
};

/** Times are epoch ms. Entries may come twice, and the later one counts. */
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
    const states = [...(intents.get(messageId)?.values() ?? [])];
    const kind = suspect(record, states, within, now);
    if (kind === "agree") agree += 1;
    if (kind === "agree" || kind === "beyond") continue;
    const recorded = record?.outcome?.paymentIntentId;
    const seen = states.map(({ paymentIntentId }) => paymentIntentId);
    const paymentIntentIds = [...new Set(recorded === undefined ? seen : [...seen, recorded])];
    suspicions.push({ messageId, kind, paymentIntentIds });
  }
  return { agree, suspicions };
}

/** `beyond`: only the margin around the period was read, which proves nothing. */
function suspect(
  record: RecordEntry | undefined,
  states: readonly IntentEntry[],
  within: (time: number) => boolean,
  now: number,
): Difference | "agree" | "beyond" {
  const { kind } = compareWithStripe(record, states);
  const live = record !== undefined && hasLiveLease(record, now);
  switch (kind) {
    case "agree":
      return record && within(record.firstClaimedAt) ? "agree" : "beyond";
    case "nothing":
      return record && !live ? "open" : "beyond";
    case "not_recorded":
      // An expired claim is reported whenever it was charged.
      return !live && (record || states.some(({ created }) => within(created))) ? kind : "beyond";
    case "not_at_stripe":
      return record && within(record.firstClaimedAt) ? kind : "beyond";
    case "advanced":
    case "advanced_unpaid":
    case "different":
    case "charged_twice":
      return kind;
  }
}

/** Whether a worker is on it. `now` is in epoch ms. */
export function hasLiveLease(
  { outcome, leaseExpiresAt }: Pick<IdempotencyRecord, "outcome" | "leaseExpiresAt">,
  now: number,
): boolean {
  return outcome === undefined && leaseExpiresAt > now;
}
