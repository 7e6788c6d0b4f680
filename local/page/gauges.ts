// What no event says: how full the queues are, when a message can be received again, and why the dead
// letters are there. Read by looking: nothing is received.
import type { Alarms } from "../alarms/alarms.ts";
import type { QueuedMessage } from "../queue/messages.ts";
import { depthOf } from "../queue/messages.ts";
import { idIn } from "./id-in.ts";
import { rowOf } from "./view.ts";
import type { View } from "./view.ts";

export type Gauges = Awaited<ReturnType<typeof readGauges>>;

type Depth = ReturnType<typeof depthOf>;

/** Where the gauges are read. */
export type Sources = {
  /** The worker's first; each has a dead-letter queue `<name>-dlq`. */
  queues: readonly string[];
  messages: (queue: string) => Promise<QueuedMessage[]>;
  /** Why a message is in the dead-letter queue of a queue. */
  reasonOf: (message: QueuedMessage, queue: string) => Promise<string>;
  alarms?: Alarms["states"];
};

/** Reads them, and what they say of single messages into the view. */
export async function readGauges(view: View, sources: Sources) {
  const reasons = new Map<string, { count: number; oldestAtMs: number }>();
  const queues: (Depth & { name: string; oldestAtMs: number | undefined })[] = [];
  for (const [index, name] of sources.queues.entries()) {
    const messages = await sources.messages(name);
    const sent = messages.map(({ sentAtMs }) => sentAtMs);
    // Of the oldest message, when it was sent.
    const oldestAtMs = sent.length > 0 ? Math.min(...sent) : undefined;
    queues.push({ name, ...depthOf(messages), oldestAtMs });
    if (index === 0) noteWaits(view, messages);

    for (const message of await sources.messages(`${name}-dlq`)) {
      const reason = await sources.reasonOf(message, name);
      const { count = 0, oldestAtMs = Infinity } = reasons.get(reason) ?? {};
      const oldest = Math.min(oldestAtMs, message.sentAtMs);
      reasons.set(reason, { count: count + 1, oldestAtMs: oldest });
      const row = view.rows.get(idIn(message.body) ?? message.sqsMessageId);
      if (row && row.reason !== reason) rowOf(view, row.id).reason = reason;
    }
  }
  const deadLetters = [...reasons].map(([reason, counts]) => ({ reason, ...counts }));
  const alarms = await sources.alarms?.();
  return {
    /** The worker's first. */
    queues,
    /** Most common reason first. */
    deadLetters: deadLetters.toSorted((a, b) => b.count - a.count),
    /** Those that fire; absent where none is evaluated. */
    ...(alarms && { alarms: alarms.filter(({ fires }) => fires) }),
  };
}

/** When each message that no worker has can be received. */
function noteWaits(view: View, messages: readonly QueuedMessage[]): void {
  for (const { body, sqsMessageId, visibleAtMs, state } of messages) {
    const row = view.rows.get(idIn(body) ?? sqsMessageId);
    const nextAtMs = state === "visible" ? undefined : visibleAtMs;
    if (row && row.busy.size === 0 && row.nextAtMs !== nextAtMs) {
      rowOf(view, row.id).nextAtMs = nextAtMs;
    }
  }
}
