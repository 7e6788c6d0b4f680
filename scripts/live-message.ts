// One message on the live page: what `payments status --stripe` and `dlq --show` say of it, read from the
// servers themselves, so that looking takes nothing from a queue.
import { describeComparison } from "../cli/explain/explain-difference.ts";
import { explainMessage } from "../cli/explain/explain-message.ts";
import { explainRecord } from "../cli/explain/explain-record.ts";
import { describeDifference } from "../cli/explain/show-body.ts";
import { idOf, letterOf } from "../cli/queue/dead-letters.ts";
import type { DeadLetter } from "../cli/queue/dead-letters.ts";
import { readEnvironment } from "../lib/lambda/environment.ts";
import { decodeMessage } from "../lib/message/decode.ts";
import type { IdempotencyRecord } from "../lib/payments/record.ts";
import { compareWithStripe } from "../lib/reconcile/comparison.ts";
import { needsAction } from "../lib/reconcile/differences.ts";
import { stripeStateOf } from "../lib/stripe/payment-intents.ts";
import type { WorkerTimings } from "../lib/timing/payments.ts";
import type { QueuedMessage } from "../local/queue/messages.ts";
import type { Stack } from "../local/stack.ts";
import type { PaymentIntent } from "../local/stripe/payment-intent.ts";

/** Why each dead letter is one, found once, when it is first seen there. */
export function createLetters({ table, tableName, worker, queue, queues }: Stack) {
  const { timings } = readEnvironment(worker.env);
  let known = new Map<string, DeadLetter>();

  async function read({ body, sentAtMs, ...message }: QueuedMessage) {
    const decoded = decodeMessage(body, Date.now(), timings);
    const record = (await table.item(tableName, idOf(decoded) ?? "")) as
      | IdempotencyRecord
      | undefined;
    return letterOf({ ...message, sentAt: sentAtMs }, decoded, record, Date.now());
  }

  async function of(message: QueuedMessage): Promise<DeadLetter> {
    const letter = known.get(message.sqsMessageId) ?? (await read(message));
    known.set(message.sqsMessageId, letter);
    return letter;
  }

  return {
    of,
    /** All that are there now, each with its body. */
    async all(): Promise<{ letter: DeadLetter; body: string }[]> {
      const found = [];
      for (const message of await queue.messages(queues.dlqUrl)) {
        found.push({ letter: await of(message), body: message.body });
      }
      known = new Map(found.map(({ letter }) => [letter.sqsMessageId, letter]));
      return found;
    },
  };
}

/** What `payments status --stripe` says of it, record and PaymentIntent side by side, and a conflict's fields. */
export async function explain(
  { table, tableName, queue, queues, stripe, worker }: Stack,
  letters: ReturnType<typeof createLetters>,
  id: string,
) {
  const { timings } = readEnvironment(worker.env);
  const now = Date.now();
  const record = (await table.item(tableName, id)) as IdempotencyRecord | undefined;
  const dead = await letters.all();
  const link = (intent: string) => `${stripe.url}/v1/payment_intents/${intent}`;
  const { lines, next } = explainMessage(
    id,
    record,
    record && explainRecord(record, timings, now, link),
    {
      queue: await queue.depth(queues.queueUrl),
      dead: { letters: dead.map(({ letter }) => letter), complete: true },
    },
  );
  const intents = stripe.paymentIntents().filter(({ metadata }) => metadata["message_id"] === id);
  const comparison = compareWithStripe(record, intents.map(stripeStateOf));
  const quoted = /^[\w.:/-]+$/.test(id) ? id : `'${id.replaceAll("'", String.raw`'\''`)}'`;
  const own = dead.filter(({ letter }) => letter.messageId === id || letter.sqsMessageId === id);
  return {
    lines: lines.filter(([label]) => label !== "PaymentIntent"),
    next,
    stripe: describeComparison(comparison),
    agrees: !needsAction(comparison.kind),
    sides: sidesOf(record, intents),
    conflicts: own
      .filter(({ letter }) => letter.code === "conflict")
      .map(({ body }) => conflictOf(body, timings, record, intents)),
    commands: [
      `npm run payments -- status ${quoted} --stripe`,
      `npm run payments -- history ${quoted}`,
      ...(own.length > 0 ? [`npm run payments -- dlq --show ${quoted}`] : []),
    ],
  };
}

/** Label, record, Stripe: what both know of a payment, and a few fields that only Stripe has. */
function sidesOf(
  record: IdempotencyRecord | undefined,
  intents: readonly PaymentIntent[],
): [label: string, record: string, stripe: string][] {
  if (!record && intents.length === 0) return [];
  const recorded = record?.outcome;
  const intent = intents.find((one) => one.id === recorded?.paymentIntentId) ?? intents.at(-1);
  return [
    ["result", recorded?.result ?? record?.status ?? "", intent?.status ?? ""],
    ["PaymentIntent", recorded?.paymentIntentId ?? "", intents.map((one) => one.id).join(", ")],
    ["amount", `${record?.amount ?? ""}`, `${intent?.amount ?? ""}`],
    ["currency", record?.currency ?? "", intent?.currency ?? ""],
    ["revision", `${record?.revision ?? ""}`, ""],
    ["description", record ? "in the fingerprint" : "", intent?.description ?? ""],
  ];
}

/** The fields in which a second message under a used id differs from the payment. */
function conflictOf(
  body: string,
  timings: WorkerTimings,
  record: IdempotencyRecord | undefined,
  intents: readonly PaymentIntent[],
): string {
  const decoded = decodeMessage(body, Date.now(), timings);
  const intent = intents.find(({ id }) => id === record?.outcome?.paymentIntentId);
  if (decoded.kind !== "message" || !intent) return "unknown: the first has no PaymentIntent yet";
  return describeDifference(decoded.message, intent);
}
