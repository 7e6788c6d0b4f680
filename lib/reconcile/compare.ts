// Compares the records, the PaymentIntents and the balance of one part of all message ids, both ways.

import type { IdempotencyRecord } from "../payments/record.ts";
import { compareWithStripe } from "./comparison.ts";
import type { Difference, StripeState } from "./comparison.ts";
import { addTo } from "./money.ts";
import type { Money, Totals, Transaction } from "./money.ts";

/** From and to, epoch ms. */
export type Window = { since: number; until: number };

/** What a comparison needs of an idempotency record. */
export type RecordEntry = { what: "record" } & Pick<
  IdempotencyRecord,
  "messageId" | "firstClaimedAt" | "leaseExpiresAt" | "outcome" | "amount" | "currency"
>;

/** What a comparison needs of a PaymentIntent. */
export type IntentEntry = { what: "intent"; messageId: string } & Omit<
  StripeState,
  "messageId" | "charge"
>;

/** What a comparison needs of a charge in Stripe's balance. */
export type MoneyEntry = { what: "money"; transactionId: string; created: number } & NonNullable<
  Transaction["charge"]
>;

export type Entry = RecordEntry | IntentEntry | MoneyEntry;

/** What may be a difference, to be read again before it is reported. */
export type Suspicion = {
  messageId: string;
  kind: Difference;
  /** The PaymentIntents that were seen, and the recorded one. */
  paymentIntentIds: string[];
  /** Whether its money belongs to the period's sums. */
  counted: boolean;
};

/** What is known of one message id. */
type Known = {
  record?: RecordEntry;
  intents: Map<string, IntentEntry>;
  money: Map<string, MoneyEntry>;
};

/**
 * Times are epoch ms. Entries may come twice, and the later one counts. What agrees is added to
 * `totals`, when Stripe's balance was read.
 */
export async function compare(
  entries: AsyncIterable<Entry>,
  { since, until }: Window,
  now: number,
  totals?: Totals,
): Promise<{ agree: number; suspicions: Suspicion[] }> {
  const all = new Map<string, Known>();
  for await (const entry of entries) {
    const known: Known = all.get(entry.messageId) ?? { intents: new Map(), money: new Map() };
    all.set(entry.messageId, known);
    if (entry.what === "record") known.record = entry;
    else if (entry.what === "intent") known.intents.set(entry.paymentIntentId, entry);
    else known.money.set(entry.transactionId, entry);
  }

  const within = (time: number): boolean => time >= since && time <= until;
  const suspicions: Suspicion[] = [];
  let agree = 0;
  for (const [messageId, { record, intents, money }] of all) {
    const states = [...intents.values()];
    const taken = [...money.values()];
    const counted = record
      ? within(record.firstClaimedAt)
      : [...states, ...taken].some(({ created }) => within(created));
    // A younger claim may be between two tries.
    const waits = record !== undefined && record.firstClaimedAt > until;
    const compared = suspect(record, states, { counted, waits }, now);
    const kind = compared === "agree" && totals ? suspectMoney(record, states, taken) : compared;
    if (kind === "agree") {
      agree += 1;
      if (totals) addAgreed(totals, record, taken);
      continue;
    }
    if (kind === "beyond" && !(record === undefined && counted && taken.length > 0)) continue;
    const ids = [...states, ...taken].map(({ paymentIntentId }) => paymentIntentId);
    if (record?.outcome?.paymentIntentId) ids.push(record.outcome.paymentIntentId);
    suspicions.push({
      messageId,
      kind: kind === "beyond" ? "not_recorded" : kind,
      paymentIntentIds: [...new Set(ids)],
      counted,
    });
  }
  return { agree, suspicions };
}

/** `beyond`: only the margin around the period was read, which proves nothing. */
function suspect(
  record: RecordEntry | undefined,
  states: readonly StripeState[],
  { counted, waits }: { counted: boolean; waits: boolean },
  now: number,
): Difference | "agree" | "beyond" {
  const { kind } = compareWithStripe(record, states);
  const live = record !== undefined && hasLiveLease(record, now);
  switch (kind) {
    case "agree":
    case "not_at_stripe":
      return counted ? kind : "beyond";
    case "nothing":
      return record && !live && !waits ? "open" : "beyond";
    case "not_recorded":
      // An expired claim is reported whenever it was charged.
      return !live && (record || counted) ? kind : "beyond";
    case "advanced":
    case "advanced_unpaid":
    case "different":
    case "amount_differs":
    case "charged_twice":
      return kind;
  }
}

/** Whether the balance shows what record and PaymentIntent agree about. */
function suspectMoney(
  record: RecordEntry | undefined,
  states: readonly IntentEntry[],
  taken: readonly MoneyEntry[],
): Difference | "agree" {
  const edited = taken.some(({ paymentIntentId, customer }) =>
    states.some(
      (state) => state.paymentIntentId === paymentIntentId && state.customer !== customer,
    ),
  );
  if (edited) return "edited";
  const { result } = record?.outcome ?? {};
  // A bank debit that failed was in the balance until then; one that is open may be there or not.
  const [one, another] = taken;
  if (!one) return result === "succeeded" ? "balance_differs" : "agree";
  if (another || result === "declined" || result === "requires_action") return "balance_differs";
  const { amount = one.amount, currency = one.currency } = record ?? {};
  return one.amount === amount && one.currency === currency ? "agree" : "balance_differs";
}

function addAgreed(totals: Totals, record: RecordEntry | undefined, taken: readonly Money[]): void {
  const [money] = taken;
  if (!money) return;
  addTo(totals.recorded, {
    amount: record?.amount ?? money.amount,
    currency: record?.currency ?? money.currency,
  });
  addTo(totals.inBalance, money);
}

/** Whether a worker is on it. `now` is in epoch ms. */
export function hasLiveLease(
  { outcome, leaseExpiresAt }: Pick<IdempotencyRecord, "outcome" | "leaseExpiresAt">,
  now: number,
): boolean {
  return outcome === undefined && leaseExpiresAt > now;
}
