// Reads what the servers of a stack hold. Only the reason of a message in the dead-letter queue may be
// the worker's own: the last error on its record, or the log line about its last delivery.
import type { Stack } from "../../local/stack.ts";
import type { Evidence, RecordedItem, Sent } from "./verdict.ts";

const FINAL = new Set(["invalid", "conflict", "rejected"]);

/** Stop the functions before you read: between two reads a message could move. */
export function collectEvidence(stack: Stack): (sent: readonly Sent[]) => Promise<Evidence> {
  const reasons = new Map<string, string>();
  stack.feed.subscribe((event) => {
    if (event.type !== "log" || !event.line.startsWith("{")) return;
    const { decision = "", sqsMessageId = "" } = JSON.parse(event.line) as Record<string, string>;
    if (FINAL.has(decision)) reasons.set(sqsMessageId, decision);
  });

  return async (sent) => {
    const { stripe, table, queue, queues, tableName } = stack;
    const records = (await table.items(tableName)) as RecordedItem[];
    const ids = new Map(sent.map(({ body, id }) => [body, id]));
    const errors = new Map(records.map(({ messageId, lastError }) => [messageId, lastError?.kind]));
    return {
      sent,
      records,
      charges: stripe.ledger.charges(),
      intents: stripe.paymentIntents(),
      waiting: (await queue.messages(queues.queueUrl)).map(({ body }) => body),
      deadLetters: (await queue.messages(queues.dlqUrl)).map(({ body, sqsMessageId }) => ({
        body,
        reason: reasons.get(sqsMessageId) ?? errors.get(ids.get(body) ?? ""),
      })),
    };
  };
}
