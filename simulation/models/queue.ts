// SQS in memory: a standard queue and its dead-letter queue.
// https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-visibility-timeout.html

export type QueuedMessage<Sent> = {
  sqsMessageId: string;
  sent: Sent;
  place: "queue" | "dead-letter queue" | "acknowledged" | "moved" | "expired";
  enqueuedAt: number;
  visibleAt: number;
  receiveCount: number;
  /** The latest; an earlier one may still delete the message. */
  receipt: string;
};

export type Queue<Sent> = ReturnType<typeof createQueue<Sent>>;

type QueueSettings = {
  /** Epoch ms. */
  now: () => number;
  visibilityTimeoutMs: number;
  maxReceiveCount: number;
  retentionMs: number;
  /** "The request succeeds, but the message might not be deleted": both happen. */
  takesStaleReceipts: boolean;
};

export function createQueue<Sent>(settings: QueueSettings) {
  const { now, visibilityTimeoutMs, maxReceiveCount, retentionMs, takesStaleReceipts } = settings;
  const messages: QueuedMessage<Sent>[] = [];

  const send = (sent: Sent): QueuedMessage<Sent> => {
    const message: QueuedMessage<Sent> = {
      sqsMessageId: `sqs-${messages.length + 1}`,
      sent,
      place: "queue",
      enqueuedAt: now(),
      visibleAt: now(),
      receiveCount: 0,
      receipt: "",
    };
    messages.push(message);
    return message;
  };

  const holding = (receipt: string): QueuedMessage<Sent> | undefined => {
    const [sqsMessageId] = receipt.split("#");
    const message = messages.find((candidate) => candidate.sqsMessageId === sqsMessageId);
    const taken = message && (message.receipt === receipt || takesStaleReceipts);
    return taken && message.place === "queue" ? message : undefined;
  };

  const sweep = (): void => {
    for (const message of messages) {
      if (message.place !== "queue" || message.visibleAt > now()) continue;
      if (message.receiveCount >= maxReceiveCount) message.place = "dead-letter queue";
      else if (now() - message.enqueuedAt >= retentionMs) message.place = "expired";
    }
  };

  return {
    messages,
    send,
    /** What can be received now. What was received too often or is too old moves away first. */
    receivable(): QueuedMessage<Sent>[] {
      sweep();
      return messages.filter(({ place, visibleAt }) => place === "queue" && visibleAt <= now());
    },
    receive(message: QueuedMessage<Sent>): string {
      message.receiveCount += 1;
      message.visibleAt = now() + visibilityTimeoutMs;
      message.receipt = `${message.sqsMessageId}#${message.receiveCount}`;
      return message.receipt;
    },
    /** False when the receipt is not the latest and this queue does not take it. */
    remove(receipt: string): boolean {
      const message = holding(receipt);
      if (message) message.place = "acknowledged";
      return message !== undefined;
    },
    setVisibility(receipt: string, seconds: number): boolean {
      const message = holding(receipt);
      if (message) message.visibleAt = now() + seconds * 1_000;
      return message !== undefined;
    },
    /** StartMessageMoveTask: each message comes back under a new id, with new clocks. */
    redrive(): void {
      sweep();
      for (const message of messages.filter(({ place }) => place === "dead-letter queue")) {
        message.place = "moved";
        send(message.sent);
      }
    },
  };
}
