// The reasons that an operator can read for a message in the dead-letter queue: the last error on
// its record, or the worker's log line about its last delivery.
import type { QueuedMessage } from "../../local/queue/messages.ts";
import type { Sent } from "./producer.ts";
import type { DeadLetter, RecordedItem } from "./verdict.ts";

export type Reasons = {
  /** A line of the worker's log. */
  read: (line: string) => void;
  of: (
    messages: readonly QueuedMessage[],
    sent: readonly Sent[],
    records: readonly RecordedItem[],
  ) => DeadLetter[];
};

const FINAL = new Set(["invalid", "conflict", "rejected"]);

export function collectReasons(): Reasons {
  const bySqsId = new Map<string, string>();

  return {
    read(line) {
      if (!line.startsWith("{")) return;
      const { decision = "", sqsMessageId = "" } = JSON.parse(line) as { [field: string]: string };
      if (FINAL.has(decision)) bySqsId.set(sqsMessageId, decision);
    },
    of(messages, sent, records) {
      const ids = new Map(sent.map(({ body, id }) => [body, id]));
      const errors = new Map(records.map(({ messageId, lastError }) => [messageId, lastError]));
      return messages.map(({ body, sqsMessageId }) => ({
        body,
        reason: bySqsId.get(sqsMessageId) ?? errors.get(ids.get(body) ?? "")?.kind,
      }));
    },
  };
}
