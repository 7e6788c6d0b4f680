// What the live page shows, made from the feed entry by entry: a pure function, which runs in the
// browser and in tests.
import type { Entry } from "../feed.ts";
import type { StackEvent } from "../stack-event.ts";

/** One line of a message's timeline. */
export type Step = { atMs: number; text: string; kind: "good" | "bad" | "plain" };

export type Row = {
  id: string;
  state: string;
  /** Whether a message of it was sent to the payments queue. */
  sent: boolean;
  deliveries: number;
  requests: number;
  charges: number;
  attempt: number;
  /** When it can be received again, epoch ms; absent when it is not waiting. */
  nextAtMs?: number | undefined;
  steps: Step[];
};

export type Worker = { name: string; pid: number; busy: string[] };

export type View = {
  /** The last entry that is in it. */
  sequence: number;
  messages: number;
  deliveries: number;
  charges: number;
  doubled: number;
  rows: Map<string, Row>;
  workers: Map<number, Worker>;
  /** Newest first. */
  stripe: { key: string; what: string; result: string; replayed: boolean }[];
  published: { id: string; type: string }[];
  deadLetters: Map<string, string>;
};

export function emptyView(): View {
  return {
    sequence: 0,
    messages: 0,
    deliveries: 0,
    charges: 0,
    doubled: 0,
    rows: new Map(),
    workers: new Map(),
    stripe: [],
    published: [],
    deadLetters: new Map(),
  };
}

const SHOWN = 20;

/** Takes one entry into the view. An entry that it has already changes nothing. */
export function take(view: View, entry: Entry<StackEvent>): void {
  if (entry.sequence <= view.sequence) return;
  view.sequence = entry.sequence;
  const { atMs } = entry;
  switch (entry.type) {
    case "message sent": {
      const id = idIn(entry.body);
      if (entry.queue !== "payments" || id === undefined) return;
      const row = rowOf(view, id);
      if (!row.sent) view.messages += 1;
      row.sent = true;
      view.deadLetters.delete(id); // redriven
      if (row.charges === 0) row.state = "waiting";
      step(row, atMs, `sent to ${entry.queue}`);
      return;
    }
    case "invoked":
      for (const { body, receiveCount } of entry.messages) {
        const id = idIn(body);
        if (id === undefined) continue;
        workerOf(view, entry.function, entry.pid).busy.push(id);
        const row = rowOf(view, id);
        if (entry.function === "payment-worker") {
          view.deliveries += 1;
          row.deliveries += 1;
          row.nextAtMs = undefined;
        }
        step(
          row,
          atMs,
          `${entry.function} received it, receive ${receiveCount}, process ${entry.pid}`,
        );
      }
      return;
    case "responded":
      for (const worker of view.workers.values()) {
        if (worker.name === entry.function) worker.busy = [];
      }
      return;
    case "failed":
      for (const { body } of entry.messages) {
        const id = idIn(body);
        if (id !== undefined)
          step(rowOf(view, id), atMs, `${entry.function}: ${entry.message}`, "bad");
      }
      return;
    case "visibility changed": {
      const id = idIn(entry.body);
      if (id === undefined) return;
      const row = rowOf(view, id);
      row.nextAtMs = atMs + entry.seconds * 1_000;
      step(row, atMs, `not acknowledged: back in ${entry.seconds} s`);
      return;
    }
    case "message deleted": {
      const id = idIn(entry.body);
      if (id === undefined) return;
      const row = rowOf(view, id);
      row.nextAtMs = undefined;
      step(row, atMs, `acknowledged: gone from ${entry.queue}`, "good");
      return;
    }
    case "dead letter": {
      const id = idIn(entry.body) ?? entry.messageId;
      const row = rowOf(view, id);
      row.state = "dead letter";
      row.nextAtMs = undefined;
      view.deadLetters.set(id, entry.queue);
      step(row, atMs, `in the dead-letter queue of ${entry.queue}`, "bad");
      return;
    }
    case "Stripe request": {
      const what = `${entry.method} ${entry.path.replace("/v1/", "")}`;
      const key = entry.idempotencyKey ?? "";
      const { result, replayed } = entry;
      view.stripe = [{ key, what, result, replayed }, ...view.stripe].slice(0, SHOWN);
      if (entry.messageId === undefined) return;
      const row = rowOf(view, entry.messageId);
      row.requests += 1;
      const answer = replayed ? `${result}, replayed` : result;
      step(row, atMs, `Stripe: ${what}: ${answer}`, result === "200" ? "good" : "bad");
      return;
    }
    case "charged": {
      if (entry.messageId === undefined) return;
      const row = rowOf(view, entry.messageId);
      view.charges += 1;
      row.charges += 1;
      if (row.charges > 1) view.doubled += 1;
      step(row, atMs, `charged ${entry.amount} ${entry.currency}, ${entry.paymentIntent}`, "good");
      return;
    }
    case "record changed":
      takeRecord(view, entry, atMs);
      return;
    case "event published": {
      const { id, subject, type } = entry.detail as {
        id?: string;
        subject?: string;
        type?: string;
      };
      view.published = [{ id: id ?? "", type: type ?? entry.detailType }, ...view.published].slice(
        0,
        SHOWN,
      );
      if (subject !== undefined)
        step(rowOf(view, subject), atMs, `published ${type} as ${id}`, "good");
      return;
    }
    case "environment started":
      workerOf(view, entry.function, entry.pid);
      return;
    case "environment ended": {
      const worker = view.workers.get(entry.pid);
      for (const id of worker?.busy ?? []) {
        step(rowOf(view, id), atMs, `process ${entry.pid} ${entry.how}`, "bad");
      }
      view.workers.delete(entry.pid);
      return;
    }
    // Shown through what they lead to, or of no interest here.
    case "table request":
    case "deleted":
    case "not deleted":
    case "not received":
    case "throttled":
    case "webhook sent":
    case "log":
    case "invocation ended":
    case "given up":
    case "alarm":
    case "http answered":
    case "switched":
  }
}

type RecordChange = Extract<StackEvent, { type: "record changed" }>;

function takeRecord(view: View, { before, after }: RecordChange, atMs: number): void {
  const item = after ?? before;
  const id = item?.["messageId"];
  if (typeof id !== "string") return;
  const row = rowOf(view, id);
  if (!after) return step(row, atMs, "the record is gone");
  const { attempt, leaseExpiresAt, outcome, lastError } = after as {
    attempt?: number;
    leaseExpiresAt?: number;
    outcome?: { result?: string; code?: string };
    lastError?: { kind?: string; code?: string };
  };
  row.attempt = attempt ?? row.attempt;
  if (outcome?.result !== undefined) {
    row.state = outcome.result;
    const code = outcome.code === undefined ? "" : ` (${outcome.code})`;
    return step(row, atMs, `recorded: ${outcome.result}${code}`, "good");
  }
  if (leaseExpiresAt === 0 && lastError) {
    row.state = lastError.kind ?? "released";
    const code = lastError.code === undefined ? "" : ` (${lastError.code})`;
    return step(row, atMs, `released: ${lastError.kind}${code}`, "bad");
  }
  row.state = leaseExpiresAt === 0 ? "accepted" : "claimed";
  step(row, atMs, leaseExpiresAt === 0 ? "accepted over HTTP" : `claimed, attempt ${attempt}`);
}

function rowOf(view: View, id: string): Row {
  const known = view.rows.get(id);
  if (known) return known;
  const row: Row = {
    id,
    state: "",
    sent: false,
    deliveries: 0,
    requests: 0,
    charges: 0,
    attempt: 0,
    steps: [],
  };
  view.rows.set(id, row);
  return row;
}

function workerOf(view: View, name: string, pid: number): Worker {
  const worker = view.workers.get(pid) ?? { name, pid, busy: [] };
  view.workers.set(pid, worker);
  return worker;
}

const MOST_STEPS = 200;

function step(row: Row, atMs: number, text: string, kind: Step["kind"] = "plain"): void {
  if (row.steps.length < MOST_STEPS) row.steps.push({ atMs, text, kind });
}

/** The message id in a body, whatever its shape; undefined where there is none. */
export function idIn(body: string, depth = 0): string | undefined {
  let value: unknown;
  try {
    value = JSON.parse(body);
  } catch {
    return undefined;
  }
  const message = value as Record<string, unknown> | null;
  if (typeof message !== "object" || message === null || depth > 3) return undefined;
  const inner = message["Type"] === "Notification" ? message["Message"] : message["detail"];
  if (inner !== undefined)
    return idIn(typeof inner === "string" ? inner : JSON.stringify(inner), depth + 1);
  const meta = message["meta"] as Record<string, unknown> | undefined;
  // An outcome event names its payment as the subject, one of Stripe's in the metadata.
  const object = (
    message["data"] as { object?: { metadata?: Record<string, unknown> } } | undefined
  )?.object;
  const id =
    message["subject"] ?? object?.metadata?.["message_id"] ?? meta?.["id"] ?? message["id"];
  return typeof id === "string" ? id : undefined;
}
