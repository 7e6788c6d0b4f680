// What the live page knows, made from the feed entry by entry (take.ts), and what it sends of it. It holds
// the newest messages only; its totals count all.

/** One line of a message's timeline; a `delivery` begins a new group of them. */
type Step = { atMs: number; text: string; kind: "delivery" | "good" | "bad" | "plain" };

export type Row = ReturnType<typeof emptyRow> & {
  /** The end of the claim, epoch ms; 0 when it was released. */
  leaseExpiresAt?: number;
  /** Kind and code of the last error. */
  error?: string;
  outcome?: string;
  /** Why it is in the dead-letter queue, as `payments dlq` says it. */
  reason?: string;
  /** When it can be received again, epoch ms; absent when that is not known. */
  nextAtMs?: number | undefined;
};

const emptyRow = (id: string) => ({
  /** The message id, or SQS's own of a body that has none. */
  id,
  /** The view's when it changed last. */
  revision: 0,
  /** Whether a message of it was sent to the worker's queue. */
  sent: false,
  /** SQS's ids of its copies in the worker's queue and in the dead-letter queue. */
  queued: new Set<string>(),
  dead: new Set<string>(),
  /** The workers' processes that have it now. */
  busy: new Set<number>(),
  deliveries: 0,
  receives: 0,
  requests: 0,
  charges: 0,
  attempt: 0,
  /** Acknowledged without an outcome. */
  lost: false,
  steps: [] as Step[],
});

type Worker = {
  name: string;
  pid: number;
  busy: string[];
  /** When its batch came, epoch ms. */
  sinceMs?: number | undefined;
  frozen: boolean;
};

type Request = { request: string; key: string; what: string; result: string; answer: string };

export type View = ReturnType<typeof emptyView> & {
  /** The last run that came to its end. */
  reconciliation?: { atMs: number; agree: number; findings: number };
};

export const emptyView = () => ({
  /** The last entry that is in it. */
  sequence: 0,
  /** Grows with each change of a row. */
  revision: 0,
  messages: 0,
  deliveries: 0,
  charges: 0,
  doubled: 0,
  lost: 0,
  /** Records with an outcome. */
  done: 0,
  /** Outcome events that the bus took, and shipments of the shop. */
  events: 0,
  shipments: 0,
  /** In the order in which they were first seen. */
  rows: new Map<string, Row>(),
  workers: new Map<number, Worker>(),
  /** Newest first, as the next two. */
  ended: [] as { name: string; pid: number; how: string; atMs: number }[],
  stripe: [] as Request[],
  published: [] as { number: number; id: string; type: string }[],
  /** What runs, by the invocation's request id. */
  invocations: new Map<string, { pid: number; ids: string[] }>(),
});

const ROWS_KEPT = 5_000;

/** The row of a message, which is about to change. Beyond the newest, one that needs nobody is let go. */
export function rowOf(view: View, id: string, kept = ROWS_KEPT): Row {
  const row: Row = view.rows.get(id) ?? emptyRow(id);
  view.revision += 1;
  row.revision = view.revision;
  view.rows.set(id, row);
  if (view.rows.size > kept) letOneGo(view);
  return row;
}

function letOneGo({ rows }: View): void {
  const [oldest] = rows.keys();
  for (const row of rows.values()) {
    if (!isOpen(row) && !isWrong(row)) return void rows.delete(row.id);
  }
  if (oldest !== undefined) rows.delete(oldest);
}

const MOST_STEPS = 200;

export function step(row: Row, atMs: number, text: string, kind: Step["kind"] = "plain"): void {
  row.steps.push({ atMs, text, kind });
  // The beginning and the end say more than the middle.
  if (row.steps.length > MOST_STEPS) row.steps.splice(MOST_STEPS / 2, 1);
}

/** Whether something is still to come by itself. */
function isOpen({ lost, dead, outcome, queued }: Row): boolean {
  return !lost && (queued.size > 0 || (dead.size === 0 && outcome === undefined));
}

/** What never may be. */
function isWrong({ lost, charges }: Row): boolean {
  return lost || charges > 1;
}

/** What a person calls its state. */
function stateOf(row: Row): string {
  if (row.lost) return "lost";
  if (row.dead.size > 0) return "dead letter";
  if (row.outcome !== undefined) return row.outcome;
  if (row.busy.size > 0) return "at a worker";
  if (row.queued.size === 0) return row.sent ? "sent" : "accepted";
  return row.deliveries === 0 ? "waiting" : "retrying";
}

/** What the page is sent of a row. */
export function shown(row: Row) {
  const { id, deliveries, receives, attempt, requests, charges, nextAtMs, busy, dead } = row;
  const reason = dead.size > 0 ? row.reason : undefined;
  return {
    id,
    state: stateOf(row),
    ...(dead.size > 0 && row.outcome !== undefined && { outcome: row.outcome }),
    note: reason ?? (row.outcome === undefined ? row.error : undefined),
    open: isOpen(row),
    deliveries,
    receives,
    attempt,
    requests,
    charges,
    ...(busy.size > 0 ? { at: [...busy] } : { nextAtMs }),
  };
}

/** The totals and the lanes; `now` is in epoch ms. */
export function summaryOf(view: View, now: number) {
  const rows = [...view.rows.values()];
  const claims = rows.filter(
    (row) => row.outcome === undefined && row.leaseExpiresAt !== undefined,
  );
  const live = claims.filter(({ leaseExpiresAt = 0 }) => leaseExpiresAt > now).length;
  const { messages, deliveries, charges, doubled, lost, done, events, shipments } = view;
  const { ended, stripe, published, reconciliation } = view;
  return {
    totals: { messages, deliveries, charges, doubled, lost, open: rows.filter(isOpen).length },
    wrong: rows.filter(isWrong).map(({ id }) => id),
    claims: { live, expired: claims.length - live, done },
    workers: [...view.workers.values()],
    outcomes: { events, shipments },
    ended,
    stripe,
    published,
    reconciliation,
  };
}
