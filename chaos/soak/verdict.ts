// Judges a soak by what Stripe's ledger, the table and the queues hold; the worker is not asked.
import type { Charge } from "../../local/stripe/ledger.ts";
import type { PaymentIntent } from "../../local/stripe/payment-intent.ts";
import type { Sent } from "./producer.ts";

export type DeadLetter = { body: string; reason: string | undefined };

export type Evidence = {
  sent: readonly Sent[];
  charges: readonly Pick<Charge, "messageId" | "amount">[];
  intents: readonly Pick<PaymentIntent, "id" | "amount" | "status" | "metadata">[];
  records: readonly RecordedItem[];
  deadLetters: readonly DeadLetter[];
  /** Bodies that are still in the queue. */
  waiting: readonly string[];
};

/** An idempotency record, as far as it matters here. */
export type RecordedItem = {
  messageId: string;
  status: string;
  outcome?: { result: string; paymentIntentId?: string };
  lastError?: { kind: string };
};

export type Verdict = {
  messages: number;
  charges: number;
  /** Charges beyond the first of a message id, and charges that no message asked for. */
  doubled: number;
  /** Message ids with a body that ended neither in an outcome that Stripe confirms, nor in the
   * dead-letter queue with a reason, and that is not in the queue either. */
  lost: string[];
  /** Message ids with a body that is still in the queue. */
  unfinished: number;
  /** How many bodies ended in each way. */
  endings: Map<string, number>;
};

/** Stripe's status for each recorded result. */
const STATUS: { [result: string]: string } = {
  succeeded: "succeeded",
  processing: "processing",
  requires_action: "requires_action",
  declined: "requires_payment_method",
};

export function judge(evidence: Evidence): Verdict {
  const intents = new Map(evidence.intents.map((intent) => [intent.id, intent]));
  const records = new Map(evidence.records.map((record) => [record.messageId, record]));
  const deadLetters = new Map(evidence.deadLetters.map(({ body, reason }) => [body, reason]));
  const waiting = new Set(evidence.waiting);
  const bodies = new Map(evidence.sent.map((sent) => [sent.body, sent]));

  /** The recorded outcome, when Stripe holds the very payment that this body asked for in that state. */
  function outcomeOf({ id, amount }: Sent): string | undefined {
    const { status, outcome } = records.get(id) ?? {};
    const intent = intents.get(outcome?.paymentIntentId ?? "");
    if (status !== "COMPLETED" || !outcome || !intent) return undefined;
    const confirmed =
      intent.metadata["message_id"] === id &&
      intent.amount === amount &&
      intent.status === STATUS[outcome.result];
    return confirmed ? outcome.result : undefined;
  }

  function endingOf(sent: Sent): string {
    const outcome = outcomeOf(sent);
    if (outcome !== undefined) return outcome;
    if (waiting.has(sent.body)) return WAITING;
    if (!deadLetters.has(sent.body)) return LOST;
    const reason = deadLetters.get(sent.body);
    return reason === undefined ? SILENT : `dead-letter queue: ${reason}`;
  }

  const endings = new Map<string, number>();
  const idsBy = { [LOST]: new Set<string>(), [WAITING]: new Set<string>() };
  for (const sent of bodies.values()) {
    const ending = endingOf(sent);
    endings.set(ending, (endings.get(ending) ?? 0) + 1);
    if (ending === LOST || ending === SILENT) idsBy[LOST].add(sent.id);
    if (ending === WAITING) idsBy[WAITING].add(sent.id);
  }
  return {
    messages: new Set(evidence.sent.map(({ id }) => id)).size,
    charges: evidence.charges.length,
    doubled: countDoubled(evidence),
    lost: [...idsBy[LOST]],
    unfinished: idsBy[WAITING].size,
    endings,
  };
}

const LOST = "LOST";
const SILENT = "dead-letter queue without a reason";
const WAITING = "still in the queue";

function countDoubled({ sent, charges }: Evidence): number {
  const wanted = new Set(sent.map(({ id, amount }) => `${id} ${amount}`));
  const charged = new Set<string>();
  let doubled = 0;
  for (const { messageId = "", amount } of charges) {
    if (charged.has(messageId) || !wanted.has(`${messageId} ${amount}`)) doubled += 1;
    charged.add(messageId);
  }
  return doubled;
}
