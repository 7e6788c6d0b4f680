// What became of a message, by Stripe's ledger, the table and the queues; the worker is not asked.
import { judge } from "../demo/verdict.ts";
import type { Evidence } from "../demo/verdict.ts";
import { AMOUNT } from "./stage.ts";
import type { Stage } from "./stage.ts";

export type End = {
  deliveries: number;
  /** Creates with the message's id, and lookups. */
  stripeRequests: number;
  charges: number;
  ending: string;
};

export async function readEnd({ stack, deliveries, body }: Stage, id: string): Promise<End> {
  const { stripe, table, queue, queues } = stack;
  const lookups = stripe.ledger.requests().filter(({ method }) => method === "GET").length;
  const bodies = async (url: string): Promise<string[]> =>
    (await queue.messages(url)).map((message) => message.body);
  const { rows } = judge({
    sent: [{ id, body: body(id), amount: AMOUNT }],
    deliveries: new Map([[id, deliveries.of(id).length]]),
    stripeRequests: new Map([[id, stripe.ledger.countsFor(id).requests + lookups]]),
    intents: stripe.paymentIntents().map(({ id, amount, status, metadata }) => ({
      messageId: metadata["message_id"],
      id,
      amount,
      status,
    })),
    records: (await table.items(stack.tableName)) as Evidence["records"],
    deadLetters: await bodies(queues.dlqUrl),
    waiting: await bodies(queues.queueUrl),
  });
  const [row] = rows;
  if (!row) throw new Error("Bug! A message that was sent has no verdict.");
  const { deliveries: received, stripeRequests, ending } = row;
  const { charges } = stripe.ledger.countsFor(id);
  return { deliveries: received, stripeRequests, charges, ending };
}
