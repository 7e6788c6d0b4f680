/** What is in a queue, for a reader that only looks: looking receives nothing and counts nothing. */
import type { StoredMessage, StoredQueue } from "./fauxqs.ts";

export type QueuedMessage = {
  sqsMessageId: string;
  body: string;
  sentAtMs: number;
  receiveCount: number;
  state: "visible" | "in flight" | "delayed";
  /** When it can be received, epoch ms; in the past, or 0, for a visible one. */
  visibleAtMs: number;
};

export type Depth = { visible: number; inFlight: number; delayed: number };

/** fauxqs moves messages between states only on a receive: the times say where they are now. */
export function messagesOf(queue: StoredQueue, nowMs: number): QueuedMessage[] {
  const { ready, delayed, inflight } = queue.messages;
  return [
    ...ready.map((message) => queued(message, "visible", 0)),
    ...delayed.map((message) =>
      queued(message, message.delayUntil > nowMs ? "delayed" : "visible", message.delayUntil),
    ),
    ...inflight.map(({ message, visibilityDeadline: until }) =>
      queued(message, until > nowMs ? "in flight" : "visible", until),
    ),
  ];
}

export function depthOf(messages: QueuedMessage[]): Depth {
  const inState = (state: QueuedMessage["state"]) =>
    messages.filter((message) => message.state === state).length;
  return {
    visible: inState("visible"),
    inFlight: inState("in flight"),
    delayed: inState("delayed"),
  };
}

function queued(
  message: StoredMessage,
  state: QueuedMessage["state"],
  visibleAtMs: number,
): QueuedMessage {
  return {
    sqsMessageId: message.messageId,
    body: message.body,
    sentAtMs: message.sentTimestamp,
    receiveCount: message.approximateReceiveCount,
    state,
    visibleAtMs,
  };
}
