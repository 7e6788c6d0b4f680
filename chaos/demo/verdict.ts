// Judges a run by what Stripe's ledger, the table and the queues hold; the worker is not asked.

/** What was sent: each body that is different from the others, once. */
export type Sent = { id: string; body: string; amount: number };

export type Evidence = {
  sent: Sent[];
  /** By message id. */
  deliveries: ReadonlyMap<string, number>;
  /** Requests that named the message id, by message id. */
  stripeRequests: ReadonlyMap<string, number>;
  /** Every PaymentIntent at Stripe. */
  intents: { messageId: string | undefined; id: string; amount: number; status: string }[];
  records: { messageId: string; status: string; outcome?: RecordedOutcome }[];
  /** Bodies in the dead-letter queue, and those still in the queue. */
  deadLetters: string[];
  waiting: string[];
};

type RecordedOutcome = {
  result: string;
  paymentIntentId?: string;
  code?: string;
  declineCode?: string;
};

export type Row = {
  id: string;
  deliveries: number;
  stripeRequests: number;
  charges: number;
  ending: string;
};

export type Verdict = {
  rows: Row[];
  messages: number;
  deliveries: number;
  charges: number;
  /** Charges that are not the first of a message id that was sent. */
  doubleCharges: number;
  /** Bodies that ended neither in an outcome that Stripe confirms nor in the dead-letter queue. */
  lost: number;
  /** Bodies that are still in the queue. */
  unfinished: number;
};

const MONEY_TAKEN = new Set(["succeeded", "processing"]);

export function judge(evidence: Evidence): Verdict {
  const ids = [...new Set(evidence.sent.map(({ id }) => id))];
  const rows = ids.map((id): Row => {
    const bodies = evidence.sent.filter((sent) => sent.id === id);
    return {
      id,
      deliveries: evidence.deliveries.get(id) ?? 0,
      stripeRequests: evidence.stripeRequests.get(id) ?? 0,
      charges: chargesOf(id, evidence).length,
      ending: [...new Set(bodies.map((sent) => endingOf(sent, evidence)))]
        .toSorted((a, b) => Number(a === DEAD_LETTER) - Number(b === DEAD_LETTER))
        .join(", and "),
    };
  });
  const sum = (value: (row: Row) => number): number =>
    rows.reduce((total, row) => total + value(row), 0);
  const charges = evidence.intents.filter(({ status }) => MONEY_TAKEN.has(status)).length;
  return {
    rows,
    messages: ids.length,
    deliveries: sum((row) => row.deliveries),
    charges,
    doubleCharges: charges - rows.filter((row) => row.charges > 0).length,
    lost: evidence.sent.filter((sent) => endingOf(sent, evidence) === LOST).length,
    unfinished: evidence.sent.filter((sent) => endingOf(sent, evidence) === UNFINISHED).length,
  };
}

/** At most one charge a message, and every message at its end. */
export function isKept({ doubleCharges, lost, unfinished }: Verdict): boolean {
  return doubleCharges === 0 && lost === 0 && unfinished === 0;
}

const LOST = "LOST";
const DEAD_LETTER = "dead-letter queue";
const UNFINISHED = "still in the queue";

function chargesOf(id: string, { intents }: Evidence): Evidence["intents"] {
  return intents.filter(({ messageId, status }) => messageId === id && MONEY_TAKEN.has(status));
}

function endingOf(sent: Sent, evidence: Evidence): string {
  const outcome = outcomeOf(sent, evidence);
  if (outcome !== undefined) return outcome;
  if (evidence.deadLetters.includes(sent.body)) return DEAD_LETTER;
  return evidence.waiting.includes(sent.body) ? UNFINISHED : LOST;
}

/** The recorded outcome, when Stripe has the very payment that this body asked for in that state. */
function outcomeOf(sent: Sent, { records, intents }: Evidence): string | undefined {
  const record = records.find(({ messageId }) => messageId === sent.id);
  const outcome = record?.status === "COMPLETED" ? record.outcome : undefined;
  const intent = intents.find(({ id }) => id === outcome?.paymentIntentId);
  if (!outcome || intent?.messageId !== sent.id || intent.amount !== sent.amount) return undefined;
  if (outcome.result === "declined") {
    if (intent.status !== "requires_payment_method") return undefined;
    return `declined (${outcome.declineCode ?? outcome.code})`;
  }
  return intent.status === outcome.result ? outcome.result : undefined;
}
