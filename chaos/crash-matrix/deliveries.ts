// Tells the deliveries of a message apart: which process has each, and whether it is over.
import type { EventSourceEvent } from "../../local/event-source/events.ts";

export type Delivery = {
  pid: number;
  requestId: string;
  receiptHandle: string;
  /** It was answered, and if that acknowledged it, the delete is over too; or its process ended. */
  over: boolean;
  /** Its process died in the middle of it. */
  crashed: boolean;
  acknowledged: boolean;
};

export type Deliveries = {
  onEvent: (event: EventSourceEvent) => void;
  /** Oldest first. */
  of: (messageId: string) => readonly Delivery[];
  /** Calls `run` before the event reaches the process of delivery `index`. */
  onStart: (messageId: string, index: number, run: (delivery: Delivery) => void) => void;
};

/** Follows an event source whose batches are of one message. */
export function followDeliveries(): Deliveries {
  const byMessage = new Map<string, Delivery[]>();
  const idOfSqsMessage = new Map<string, string>();
  const starts: { messageId: string; index: number; run: (delivery: Delivery) => void }[] = [];
  let receiptHandle = "";

  const of = (messageId: string): readonly Delivery[] => byMessage.get(messageId) ?? [];
  const ofSqsMessages = ([sqsId = ""]: string[]): readonly Delivery[] =>
    of(idOfSqsMessage.get(sqsId) ?? "");

  function start(pid: number, requestId: string, [sqsId = ""]: string[]): void {
    const messageId = idOfSqsMessage.get(sqsId) ?? "";
    const earlier = of(messageId);
    const delivery: Delivery = {
      pid,
      requestId,
      receiptHandle,
      over: false,
      crashed: false,
      acknowledged: false,
    };
    byMessage.set(messageId, [...earlier, delivery]);
    for (const { index, run } of starts.filter((wanted) => wanted.messageId === messageId)) {
      if (index === earlier.length) run(delivery);
    }
  }

  function onEvent(event: EventSourceEvent): void {
    switch (event.type) {
      case "received":
        for (const message of event.messages) {
          const { id } = JSON.parse(message.body) as { id: string };
          idOfSqsMessage.set(message.messageId, id);
          // The event source says which process gets it before it receives anything else.
          ({ receiptHandle } = message);
        }
        break;
      case "invoked":
        start(event.pid, event.requestId, event.messageIds);
        break;
      case "responded":
      case "failed": {
        const delivery = ofSqsMessages(event.messageIds).find(
          ({ requestId }) => requestId === event.requestId,
        );
        if (!delivery) break;
        delivery.acknowledged = event.type === "responded" && event.failures.length === 0;
        delivery.over = !delivery.acknowledged;
        delivery.crashed = event.type === "failed" && event.reason === "crash";
        break;
      }
      case "deleted":
        endNewest(ofSqsMessages(event.messageIds));
        break;
      case "queue-error":
        if (event.action === "delete") for (const all of byMessage.values()) endNewest(all);
        break;
      case "throttled":
    }
  }

  return {
    onEvent,
    of,
    onStart: (messageId, index, run) => void starts.push({ messageId, index, run }),
  };
}

/** A delete names no delivery. While an older one is held at the queue, the newest is the one. */
function endNewest(deliveries: readonly Delivery[]): void {
  const newest = deliveries.findLast(({ acknowledged, over }) => acknowledged && !over);
  if (newest) newest.over = true;
}
