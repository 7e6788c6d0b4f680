// Whether the guarantee held, by what Stripe's ledger, the table and the queues hold; the worker is not
// asked.
import type { Charge } from "../../local/stripe/ledger.ts";
import type { PaymentIntent } from "../../local/stripe/payment-intent.ts";
import { checkAround, NOTHING_AROUND } from "./verdict-around.ts";
import type { Around, AroundVerdict } from "./verdict-around.ts";

/** A body as it was sent; a repeat of the same string is the same one. `amount` in minor units. */
export type Sent = { id: string; body: string; amount: number };

export type Evidence = {
  sent: readonly Sent[];
  charges: readonly Pick<Charge, "messageId" | "amount">[];
  intents: readonly Pick<PaymentIntent, "id" | "amount" | "status" | "metadata">[];
  records: readonly RecordedItem[];
  /** `reason` is what an operator can read of it. */
  deadLetters: readonly { body: string; reason: string | undefined }[];
  /** Bodies that are still in the queue. */
  waiting: readonly string[];
  /** Absent when the worker ran alone. */
  around?: Around;
};

/** An idempotency record, as far as it matters here. */
export type RecordedItem = {
  messageId: string;
  status: string;
  revision?: number;
  outcome?: { result: string; paymentIntentId?: string; code?: string; declineCode?: string };
  lastError?: { kind: string };
};

export type Row = {
  id: string;
  charges: number;
  /** How each body of the message ended, the outcome first. */
  ends: string[];
};

export type Verdict = AroundVerdict & {
  /** One for each message id. */
  rows: Row[];
  charges: number;
  /** Charges beyond the first of a message id, and charges that no message asked for. */
  doubled: number;
  /** Message ids with a body that ended neither in an outcome that Stripe confirms, nor in the
   * dead-letter queue with a reason, and that is not in the queue either. */
  lost: string[];
  /** Message ids with a body that is still in the queue, or whose record is behind Stripe. */
  open: string[];
};

export const LOST = "LOST";
export const SILENT = "dead-letter queue without a reason: LOST";
export const OPEN = "still in the queue";
/** The record is of a debit that Stripe has moved on since. */
const BEHIND = "recorded, and not finalized yet";

/** Stripe's status for each recorded result. */
const STATUS: { [result: string]: string } = {
  succeeded: "succeeded",
  processing: "processing",
  requires_action: "requires_action",
  declined: "requires_payment_method",
  failed: "requires_payment_method",
  canceled: "canceled",
};

export function reachVerdict(evidence: Evidence): Verdict {
  const endOf = createEndOf(evidence);
  const bodies = new Map(evidence.sent.map((sent) => [sent.body, sent]));
  const chargesOf = Map.groupBy(evidence.charges, ({ messageId }) => messageId);
  const rows = [...Map.groupBy(bodies.values(), ({ id }) => id)].map(([id, sent]) => ({
    id,
    charges: chargesOf.get(id)?.length ?? 0,
    ends: sent.map(endOf).toSorted((a, b) => Number(isNoOutcome(a)) - Number(isNoOutcome(b))),
  }));
  const idsWith = (...ends: string[]): string[] =>
    rows.filter((row) => row.ends.some((end) => ends.includes(end))).map(({ id }) => id);
  return {
    ...(evidence.around
      ? checkAround(
          evidence.around,
          evidence,
          rows.map(({ id }) => id),
        )
      : NOTHING_AROUND),
    rows,
    charges: evidence.charges.length,
    doubled: countDoubled(evidence),
    lost: idsWith(LOST, SILENT),
    open: idsWith(OPEN, BEHIND),
  };
}

/**
 * At most one charge a message, none lost, nothing wrong with what follows from it, and, unless the
 * run was interrupted, nothing that is still to come.
 */
export function isKept(
  { doubled, lost, open, wrong, missing }: Verdict,
  interrupted = false,
): boolean {
  const safe = doubled === 0 && lost.length === 0 && wrong.length === 0;
  return safe && (interrupted || (open.length === 0 && missing.length === 0));
}

function isNoOutcome(end: string): boolean {
  return end === LOST || end === OPEN || end.startsWith("dead-letter queue");
}

function createEndOf(evidence: Evidence): (sent: Sent) => string {
  const intents = new Map(evidence.intents.map((intent) => [intent.id, intent]));
  const records = new Map(evidence.records.map((record) => [record.messageId, record]));
  const deadLetters = new Map(evidence.deadLetters.map(({ body, reason }) => [body, reason]));
  const waiting = new Set(evidence.waiting);

  /** The recorded outcome, when Stripe holds the very payment that this body asked for in that state. */
  function outcomeOf({ id, amount }: Sent): string | undefined {
    const { status, outcome } = records.get(id) ?? {};
    const intent = intents.get(outcome?.paymentIntentId ?? "");
    if (status !== "COMPLETED" || !outcome || !intent) return undefined;
    const confirmed = intent.metadata["message_id"] === id && intent.amount === amount;
    if (!confirmed) return undefined;
    if (intent.status !== STATUS[outcome.result]) {
      const isOpen = ["processing", "requires_action"].includes(outcome.result);
      return isOpen ? BEHIND : undefined;
    }
    return outcome.result === "declined"
      ? `declined (${outcome.declineCode ?? outcome.code})`
      : outcome.result;
  }

  return (sent) => {
    const outcome = outcomeOf(sent);
    if (outcome !== undefined) return outcome;
    if (waiting.has(sent.body)) return OPEN;
    if (!deadLetters.has(sent.body)) return LOST;
    const reason = deadLetters.get(sent.body);
    return reason === undefined ? SILENT : `dead-letter queue (${reason})`;
  };
}

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
