// The deliveries of each message, read from the feed: which process has each, and whether it is over.
import { handle } from "../../local/feed.ts";
import type { Feed } from "../../local/feed.ts";
import type { StackEvent } from "../../local/stack-event.ts";

export type Delivery = {
  /** SQS's id of the message. */
  sqsId: string;
  receiptHandle: string;
  pid: number;
  /** The function answered, or its process died. */
  answered: boolean;
  acknowledged: boolean;
  /** Answered, and if that acknowledged it, the delete is over too. */
  over: boolean;
};

/** The deliveries to one function. `idOf` reads a body's message id. */
export function followDeliveries(
  feed: Feed<StackEvent>,
  functionName: string,
  idOf: (body: string) => string,
) {
  const byMessage = new Map<string, Delivery[]>();
  const byRequest = new Map<string, Delivery[]>();
  const overlapping = new Set<string>();
  const starts: { messageId: string; index: number; run: () => void }[] = [];
  let count = 0;
  let kills = 0;
  let isSlow = false;

  function start({ requestId, pid, messages }: StackEvent & { type: "invoked" }): void {
    const deliveries = messages.map(({ messageId: sqsId, receiptHandle, body }) => {
      const id = idOf(body);
      const earlier = byMessage.get(id) ?? [];
      const state = { answered: false, acknowledged: false, over: false };
      const delivery: Delivery = { sqsId, receiptHandle, pid, ...state };
      if (earlier.some((other) => other.sqsId === sqsId && !other.answered)) overlapping.add(id);
      byMessage.set(id, [...earlier, delivery]);
      for (const { messageId, index, run } of starts) {
        if (messageId === id && index === earlier.length) run();
      }
      return delivery;
    });
    byRequest.set(requestId, deliveries);
    count += messages.length;
  }

  function answer(requestId: string, isAcknowledged: (sqsId: string) => boolean): void {
    for (const delivery of byRequest.get(requestId) ?? []) {
      delivery.answered = true;
      delivery.acknowledged = isAcknowledged(delivery.sqsId);
      delivery.over = !delivery.acknowledged;
    }
    forget(requestId);
  }

  function forget(requestId: string): void {
    if (byRequest.get(requestId)?.every(({ over }) => over)) byRequest.delete(requestId);
  }

  /** Without ids a delete has failed: the messages come again. */
  function end(requestId: string, deletedIds?: readonly string[]): void {
    for (const delivery of byRequest.get(requestId) ?? []) {
      delivery.over ||= deletedIds?.includes(delivery.sqsId) ?? true;
    }
    forget(requestId);
  }

  feed.subscribe(
    handle<StackEvent>({
      invoked(event) {
        if (event.function === functionName) start(event);
      },
      responded({ requestId, failures, ...event }) {
        if (event.function === functionName) isSlow = false;
        answer(requestId, (sqsId) => !failures.includes(sqsId));
      },
      failed({ requestId, reason, message, ...event }) {
        if (event.function !== functionName) return;
        isSlow = true;
        if (reason === "crash" && message.includes("SIGKILL")) kills += 1;
        answer(requestId, () => false);
      },
      deleted: ({ requestId, messageIds }) => end(requestId, messageIds),
      "not deleted": ({ requestId }) => end(requestId),
    }),
  );

  return {
    /** Oldest first. */
    of: (messageId: string): readonly Delivery[] => byMessage.get(messageId) ?? [],
    /** Whether a delivery acknowledged it, and the delete is over. */
    isDone: (messageId: string): boolean =>
      (byMessage.get(messageId) ?? []).some(({ acknowledged, over }) => acknowledged && over),
    /** Whether two deliveries of one SQS message were in progress at the same time. */
    overlapped: (messageId: string) => overlapping.has(messageId),
    /** Calls `run` before the event reaches the process of delivery `index`. */
    onStart: (messageId: string, index: number, run: () => void) =>
      void starts.push({ messageId, index, run }),
    count: () => count,
    /** Invocations that ended with the SIGKILL of their process. */
    kills: () => kills,
    /** Processes that have an event. */
    busy: () =>
      [...byRequest.values()].flatMap((deliveries) =>
        deliveries.filter(({ answered }) => !answered).map(({ pid }) => pid),
      ),
    /** Whether the poller has slowed down, after a failed invocation and until one succeeds. */
    isSlow: () => isSlow,
  };
}
