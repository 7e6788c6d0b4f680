// One dead letter for `payments dlq --show`.
import { decodeMessage } from "../../lib/message/decode.ts";
import { readRecords } from "../clients/records.ts";
import { stripeFor } from "../clients/stripe-access.ts";
import type { Target } from "../clients/target.ts";
import { nameOf } from "../queue/dead-letters.ts";
import type { DeadLetter, DeadLetterQueue } from "../queue/dead-letters.ts";
import type { Received } from "../queue/peek.ts";
import { instant } from "../terminal/print.ts";
import { describeDifference, maskBody } from "./show-body.ts";

/** What an operator may see of a message: its values could be anything, so they are masked. */
export async function detailsOf(
  { letter, received }: { letter: DeadLetter; received: Received },
  queue: DeadLetterQueue,
  target: Target,
  now: number,
): Promise<Record<string, string> & { body: string }> {
  const { code, why, next, sqsMessageId, sentAt } = letter;
  const { body, receiveCount } = received;
  return {
    message: nameOf(letter),
    "SQS MessageId": sqsMessageId,
    sent: instant(sentAt, now),
    receives: String(receiveCount),
    reason: `${code}: ${why}`,
    ...(code === "conflict" && { differs: await differenceOf(received, queue, target, now) }),
    next,
    body: maskBody(body),
  };
}

/** Where a conflict differs from the payment that Stripe has under its id. */
async function differenceOf(
  { body, schemaVersion }: Received,
  { table, tableName, timings }: DeadLetterQueue,
  target: Target,
  now: number,
): Promise<string> {
  const decoded = decodeMessage(body, now, timings, schemaVersion);
  if (decoded.kind !== "message") throw new Error("Bug! A conflict that cannot be decoded.");
  const { message } = decoded;
  const record = (await readRecords(table, tableName, [message.id])).get(message.id);
  const paymentIntentId = record?.outcome?.paymentIntentId;
  if (paymentIntentId === undefined) return "unknown: the first payment has no PaymentIntent yet";
  try {
    using access = await stripeFor(target, 1);
    const intent = await access.stripe.paymentIntents.retrieve(paymentIntentId);
    return describeDifference(message, intent);
  } catch (error) {
    return `unknown: ${(error as Error).message}`;
  }
}
