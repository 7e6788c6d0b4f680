// Reads what the servers of a stack hold. Only the reason of a message in the dead-letter queue may be
// the worker's own: the last error on its record, or the log line about its last delivery.
import { handle } from "../../local/feed.ts";
import { ORDERS_TABLE } from "../../local/servers.ts";
import { STOCK } from "../../local/shop.ts";
import type { StackEvent } from "../../local/stack-event.ts";
import type { Stack } from "../../local/stack.ts";
import type { Around } from "./verdict-around.ts";
import type { Evidence, RecordedItem, Sent } from "./verdict.ts";

const FINAL = new Set(["invalid", "conflict", "rejected"]);

/**
 * Stop the functions before you read: between two reads a message could move.
 *
 * @param accepted the message ids that a client was answered 202 for
 */
export function collectEvidence(
  stack: Stack,
  accepted: () => readonly string[] = () => [],
): (sent: readonly Sent[]) => Promise<Evidence> {
  const reasons = new Map<string, string>();
  const recorded: Around["recorded"][number][] = [];
  stack.feed.subscribe(
    handle<StackEvent>({
      log({ line }) {
        if (!line.startsWith("{")) return;
        const { decision = "", sqsMessageId = "" } = JSON.parse(line) as Record<string, string>;
        if (FINAL.has(decision)) reasons.set(sqsMessageId, decision);
      },
      "record changed"({ after }) {
        const { messageId, status, revision = 1, outcome } = (after ?? {}) as RecordedItem;
        if (status === "COMPLETED" && outcome) {
          recorded.push({ messageId, revision, result: outcome.result });
        }
      },
    }),
  );

  return async (sent) => {
    const { stripe, table, queue, queues, tableName, functions } = stack;
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
      ...(functions.length > 1 && {
        around: {
          recorded,
          published: outcomesOf(stack),
          orders: await table.items(ORDERS_TABLE),
          stock: STOCK,
          accepted: accepted(),
        },
      }),
    };
  };
}

type OutcomeEvent = { id: string; revision?: number; data: { result: string } };

function outcomesOf({ bus }: Stack): Around["published"] {
  return bus.bus
    .published()
    .map(({ detail }) => detail as OutcomeEvent)
    .filter(({ revision }) => revision !== undefined)
    .map((event) => ({
      id: event.id,
      result: event.data.result,
      content: JSON.stringify(event),
    }));
}
