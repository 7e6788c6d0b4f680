// Counts what the event source delivers, by message id, and lets the story wait for it.
import type { EventSourceEvent } from "../../local/event-source/events.ts";

export type Watch = {
  onEvent: (event: EventSourceEvent) => void;
  /** Bodies are recognised by themselves: a redrive gives them another SQS MessageId. */
  expect: (body: string, id: string) => void;
  deliveries: ReadonlyMap<string, number>;
  /** The SQS MessageIds under which a message id was delivered. */
  sqsIds: (id: string) => ReadonlySet<string>;
  /** Whether two deliveries of one SQS message were in progress at the same time. */
  overlapped: (id: string) => boolean;
  /** Receipt handle of the newest delivery. */
  receiptHandle: (id: string) => string | undefined;
  /** SQS MessageIds that were acknowledged. */
  deleted: ReadonlySet<string>;
  /** Invocations that ended without an answer. */
  crashes: () => number;
};

export function startWatch(): Watch {
  const idOfBody = new Map<string, string>();
  const deliveries = new Map<string, number>();
  const sqsIds = new Map<string, Set<string>>();
  const receiptHandles = new Map<string, string>();
  const inProgress = new Map<string, number>();
  const overlapping = new Set<string>();
  const deleted = new Set<string>();
  let crashes = 0;

  const finish = (messageIds: string[]): void => {
    for (const sqsId of messageIds) inProgress.set(sqsId, (inProgress.get(sqsId) ?? 1) - 1);
  };

  function onEvent(event: EventSourceEvent): void {
    switch (event.type) {
      case "received":
        for (const { messageId: sqsId, body, receiptHandle } of event.messages) {
          const id = idOfBody.get(body) ?? body;
          deliveries.set(id, (deliveries.get(id) ?? 0) + 1);
          sqsIds.set(id, (sqsIds.get(id) ?? new Set()).add(sqsId));
          receiptHandles.set(id, receiptHandle);
          const running = (inProgress.get(sqsId) ?? 0) + 1;
          inProgress.set(sqsId, running);
          if (running > 1) overlapping.add(id);
        }
        break;
      case "responded":
        finish(event.messageIds);
        break;
      case "failed":
        if (event.reason === "crash") crashes += 1;
        finish(event.messageIds);
        break;
      case "deleted":
        for (const sqsId of event.messageIds) deleted.add(sqsId);
        break;
      case "invoked":
      case "throttled":
      case "queue-error":
        break;
    }
  }

  return {
    onEvent,
    expect: (body, id) => void idOfBody.set(body, id),
    deliveries,
    sqsIds: (id) => sqsIds.get(id) ?? new Set(),
    overlapped: (id) => overlapping.has(id),
    receiptHandle: (id) => receiptHandles.get(id),
    deleted,
    crashes: () => crashes,
  };
}

/**
 * Waits for `condition`, and says whether it came true in time. The story goes on either way: what
 * did not happen shows in its tables.
 */
export async function within(
  timeoutMs: number,
  condition: () => boolean | Promise<boolean>,
): Promise<boolean> {
  const giveUpAt = performance.now() + timeoutMs;
  for (;;) {
    if (await condition()) return true;
    if (performance.now() > giveUpAt) return false;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
