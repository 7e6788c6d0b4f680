// Takes the feed into the live page's view, entry by entry.
import type { Entry } from "../feed.ts";
import type { StackEvent } from "../stack-event.ts";
import { idIn } from "./id-in.ts";
import { rowOf, step } from "./view.ts";
import type { Row, View } from "./view.ts";

const WORKER = "payment-worker";
const QUEUE = "payments";
const SHOWN = 20;

type Taken<Type extends StackEvent["type"]> = Entry<StackEvent> & { type: Type };
type Handlers = { [Type in StackEvent["type"]]?: (view: View, entry: Taken<Type>) => void };

/** An entry that it has already changes nothing. */
export function take(view: View, entry: Entry<StackEvent>): void {
  if (entry.sequence <= view.sequence) return;
  view.sequence = entry.sequence;
  const handler = HANDLERS[entry.type] as
    | ((view: View, entry: Entry<StackEvent>) => void)
    | undefined;
  handler?.(view, entry);
}

const HANDLERS: Handlers = {
  "message sent"(view, { queue, messageId, body, atMs }) {
    if (queue !== QUEUE) return;
    const row = rowOf(view, idIn(body) ?? messageId);
    if (!row.sent) view.messages += 1;
    row.sent = true;
    row.queued.add(messageId);
    found(view, row);
    row.nextAtMs = undefined;
    step(row, atMs, "sent to the queue");
  },
  invoked(view, { function: name, requestId, pid, messages, atMs }) {
    const worker = workerOf(view, name, pid);
    worker.sinceMs = atMs;
    const ids: string[] = [];
    view.invocations.set(requestId, { pid, ids });
    for (const { messageId, body, receiveCount } of messages) {
      const id = idIn(body) ?? messageId;
      worker.busy.push(id);
      ids.push(id);
      if (name !== WORKER) {
        // A batch that names no message of the page is not one of its rows.
        if (view.rows.has(id)) step(rowOf(view, id), atMs, `${name} received it, process ${pid}`);
        continue;
      }
      const row = rowOf(view, id);
      view.deliveries += 1;
      row.deliveries += 1;
      row.receives = receiveCount;
      row.busy.add(pid);
      row.nextAtMs = undefined;
      const what = `Delivery ${row.deliveries}: receive ${receiveCount}, process ${pid}`;
      step(row, atMs, what, "delivery");
    }
  },
  responded: (view, { requestId }) => free(view, requestId),
  failed(view, { function: name, requestId, reason, message, messages, atMs }) {
    const pid = free(view, requestId);
    for (const { messageId, body } of messages) {
      const id = idIn(body) ?? messageId;
      if (name !== WORKER && !view.rows.has(id)) continue;
      const what = reason === "crash" ? `Crash here: ${name} died` : `${name} failed`;
      step(rowOf(view, id), atMs, `${what}, process ${pid}: ${message}`, "bad");
    }
  },
  "visibility changed"(view, { queue, messageId, body, seconds, atMs }) {
    if (queue !== QUEUE) return;
    const row = rowOf(view, idIn(body) ?? messageId);
    row.nextAtMs = atMs + seconds * 1_000;
    step(row, atMs, `not acknowledged: can be received again in ${seconds} s`);
  },
  "message deleted"(view, { queue, messageId, body, atMs }) {
    const id = idIn(body) ?? messageId;
    if (queue !== QUEUE) {
      if (!view.rows.has(id)) return;
      const row = rowOf(view, id);
      row.dead.delete(messageId);
      const where = queue.endsWith("-dlq") ? `taken from ${queue}` : `acknowledged to ${queue}`;
      return step(row, atMs, where);
    }
    const row = rowOf(view, id);
    row.queued.delete(messageId);
    row.nextAtMs = undefined;
    if (row.outcome !== undefined || row.lost) {
      return step(row, atMs, "acknowledged: gone from the queue", "good");
    }
    row.lost = true;
    view.lost += 1;
    step(row, atMs, "LOST: acknowledged without a recorded outcome", "bad");
  },
  "dead letter"(view, { queue, messageId, body, atMs }) {
    const id = idIn(body) ?? messageId;
    if (queue !== QUEUE && !view.rows.has(id)) return;
    const row = rowOf(view, id);
    if (queue === QUEUE) {
      row.queued.delete(messageId);
      row.dead.add(messageId);
      row.nextAtMs = undefined;
    }
    step(row, atMs, `moved to ${queue}-dlq`, "bad");
  },
  "Stripe request"(
    view,
    { method, path, idempotencyKey, messageId, result, replayed, id, faults, atMs },
  ) {
    const what = `${method} ${path.replace("/v1/", "")}`;
    const key = idempotencyKey ?? "";
    const answer = replayed ? "replayed" : method === "POST" ? "new" : "read";
    view.stripe = [{ request: id, key, what, result, answer }, ...view.stripe].slice(0, SHOWN);
    if (messageId === undefined) return;
    const row = rowOf(view, messageId);
    row.requests += 1;
    const why = faults.length > 0 ? `, fault: ${faults.join(", ")}` : "";
    const kind = result === "200" ? "good" : "bad";
    const said = result === "dropped" ? "the connection was cut" : `Stripe answered ${result}`;
    step(row, atMs, `${said}, ${answer}: ${what}, key ${key}, ${id}${why}`, kind);
  },
  charged(view, { messageId, amount, currency, paymentIntent, nth, atMs }) {
    if (messageId === undefined) return;
    const row = rowOf(view, messageId);
    row.charges = nth;
    // Not what a person charged past the queue.
    if (row.sent) view.charges += 1;
    if (nth > 1) view.doubled += 1;
    const what = `charged ${amount} ${currency}, ${paymentIntent}`;
    step(row, atMs, nth > 1 ? `CHARGED AGAIN: ${what}` : what, nth > 1 ? "bad" : "good");
  },
  "record changed": takeRecord,
  "event published"(view, { detail, detailType, atMs }) {
    const { id = "", subject, type = detailType } = detail as Record<string, string | undefined>;
    if (subject === undefined) return; // one of Stripe's
    view.events += 1;
    view.published = [{ number: view.events, id, type }, ...view.published].slice(0, SHOWN);
    step(rowOf(view, subject), atMs, `published ${type}, event ${id}`, "good");
  },
  "order added"(view, { item, atMs }) {
    const [kind, id = ""] = String(item["pk"]).split(/#(.*)/s);
    if (kind !== "shipment") return;
    view.shipments += 1;
    step(rowOf(view, id), atMs, "the goods are shipped", "good");
  },
  log(view, { function: name, line, atMs }) {
    // The only line that is read: its counts are the result, and no server sees them.
    if (name !== "reconciliation" || !line.includes('"reconciliation done"')) return;
    const { agree = 0, findings = 0 } = JSON.parse(line) as { agree?: number; findings?: number };
    view.reconciliation = { atMs, agree, findings };
  },
  "environment started": (view, { function: name, pid }) => void workerOf(view, name, pid),
  "environment signaled"(view, { function: name, pid, signal, atMs }) {
    const worker = workerOf(view, name, pid);
    worker.frozen = signal === "SIGSTOP";
    const what = { SIGSTOP: "frozen", SIGCONT: "thawed" }[signal as string] ?? `sent ${signal}`;
    for (const id of worker.busy) {
      if (view.rows.has(id))
        step(rowOf(view, id), atMs, `process ${pid} is ${what} by hand`, "bad");
    }
  },
  "environment ended"(view, { function: name, pid, how, atMs }) {
    view.workers.delete(pid);
    view.ended = [{ name, pid, how, atMs }, ...view.ended].slice(0, 3);
  },
};

function takeRecord(view: View, { before, after, atMs }: Taken<"record changed">): void {
  const id = (after ?? before)?.["messageId"];
  if (typeof id !== "string") return;
  const row = rowOf(view, id);
  const { attempt, leaseExpiresAt, outcome, lastError, owner } = (after ?? {}) as {
    attempt?: number;
    leaseExpiresAt?: number;
    owner?: string;
    outcome?: { result?: string; code?: string; declineCode?: string };
    lastError?: { kind?: string; code?: string };
  };
  view.done += Number(outcome !== undefined) - Number(before?.["outcome"] !== undefined);
  row.attempt = attempt ?? 0;
  delete row.leaseExpiresAt;
  delete row.outcome;
  delete row.error;
  if (!after) return step(row, atMs, "the record is gone", "bad");
  if (outcome?.result !== undefined) {
    row.outcome = outcome.result;
    found(view, row);
    const code = outcome.declineCode ?? outcome.code;
    return step(row, atMs, `recorded: ${outcome.result}${code ? ` (${code})` : ""}`, "good");
  }
  if (leaseExpiresAt !== undefined) row.leaseExpiresAt = leaseExpiresAt;
  if (leaseExpiresAt === 0 && !lastError) return step(row, atMs, "accepted over HTTP");
  if (leaseExpiresAt === 0) {
    row.error = [lastError?.kind, lastError?.code].filter(Boolean).join("/");
    return step(row, atMs, `claim released: ${row.error}`, "bad");
  }
  const until = (((leaseExpiresAt ?? atMs) - atMs) / 1_000).toFixed(1);
  step(row, atMs, `claimed: attempt ${attempt}, owner ${owner?.slice(0, 8)}, lease of ${until} s`);
}

/** What was lost and is back, or has its outcome after all, is not lost. */
function found(view: View, row: Row): void {
  if (row.lost) view.lost -= 1;
  row.lost = false;
}

function workerOf(view: View, name: string, pid: number) {
  const worker = view.workers.get(pid) ?? { name, pid, busy: [], frozen: false };
  view.workers.set(pid, worker);
  return worker;
}

/** The invocation is over: its process has nothing, if it is still there. */
function free(view: View, requestId: string): number | undefined {
  const { pid = 0, ids = [] } = view.invocations.get(requestId) ?? {};
  view.invocations.delete(requestId);
  const worker = view.workers.get(pid);
  if (worker) view.workers.set(pid, { ...worker, busy: [], sinceMs: undefined });
  for (const id of ids) if (view.rows.get(id)?.busy.has(pid)) rowOf(view, id).busy.delete(pid);
  return pid;
}
