// payments status: what became of a message, where it is, what comes next, and whether Stripe agrees.
import { styleText } from "node:util";

import { Stripe } from "stripe";

import type { IdempotencyRecord } from "../../lib/payments/record.ts";
import { compareWithStripe } from "../../lib/reconcile/comparison.ts";
import type { Comparison } from "../../lib/reconcile/comparison.ts";
import { needsAction } from "../../lib/reconcile/differences.ts";
import { stripeStateOf } from "../../lib/stripe/payment-intents.ts";
import { tableFor, timingsFor } from "../clients/clients.ts";
import { readRecords } from "../clients/records.ts";
import { stripeFor } from "../clients/stripe-access.ts";
import { findTarget, need, TARGET_OPTIONS } from "../clients/target.ts";
import { findAtStripe, retrieveAtStripe } from "../explain/ask-stripe.ts";
import type { Found } from "../explain/ask-stripe.ts";
import { describeComparison } from "../explain/explain-difference.ts";
import { explainMessage } from "../explain/explain-message.ts";
import type { MessageExplanation } from "../explain/explain-message.ts";
import { explainRecord } from "../explain/explain-record.ts";
import type { Lines } from "../explain/explain-record.ts";
import { linkFor } from "../explain/payment-intent-link.ts";
import type { DeadLetter } from "../queue/dead-letters.ts";
import { deadLettersOf, readQueues } from "../queue/locate.ts";
import type { Queues } from "../queue/locate.ts";
import { flag, readArguments } from "../terminal/arguments.ts";
import { interruptSignal, UsageError } from "../terminal/command.ts";
import { instant, labeled, printJson } from "../terminal/print.ts";
import { startProgress } from "../terminal/progress.ts";

export const COMMAND = {
  name: "status",
  usage: "npm run payments -- status ID… [options]",
  about: `
Explains what became of messages: the outcome or the last error, where each message is now, and what
comes next. An ID is a message id, or SQS's own MessageId of a message in the dead-letter queue.`,
  options: {
    ...TARGET_OPTIONS,
    stripe: flag("asks Stripe too, and says whether record and Stripe agree; it only reads"),
    "record-only": flag("leaves the queues alone: faster when there are many dead letters"),
    json: flag("for scripts"),
  },
  positionals: "message id",
  notes: `
To see where a message is, it peeks into the dead-letter queue, as payments dlq does, and counts the
messages in the queue, which cannot be read without taking them from the worker.

Needs the table and, without --record-only, both queues; --stripe needs the secret, or STRIPE_API_KEY. Other targets: payments --help.

Exit status 3 when a message is in the dead-letter queue or in neither queue without an outcome, when
Stripe and a record do not agree, or when Stripe does not answer.`,
  examples: [
    "npm run payments -- status order-1",
    "npm run payments -- status order-1 order-2 --stripe --stack PaymentWorker-prod",
  ],
};

type Report = MessageExplanation & {
  messageId: string;
  record: IdempotencyRecord | undefined;
  deadLetters: DeadLetter[];
  stripe?: AtStripe;
};

type AtStripe = {
  intents: Found[];
  comparison: Comparison["kind"] | "unknown";
  sentence: string;
  fine: boolean;
};

export async function run(args: string[]): Promise<void> {
  const { values, positionals: given } = readArguments(COMMAND, args);
  if (given.length === 0) throw new UsageError("Name at least one message id. See --help.");
  const target = await findTarget(values);
  const tableName = need(target, "tableName");
  using access = values.stripe ? await stripeFor(target, 1) : undefined;
  const link = access?.link ?? linkFor(target);
  const signal = interruptSignal();
  const queues: Queues = values["record-only"] ? {} : await readQueues(target, signal);
  if (signal.aborted) {
    process.exitCode = 130;
    return;
  }
  const ids = [...new Set(given.map((id) => deadLettersOf(id, queues)[0]?.messageId ?? id))];
  const records = await readRecords(tableFor(target), tableName, ids);
  const now = Date.now();

  const reports: Report[] = [];
  const progress = startProgress("at Stripe", ids.length);
  for (const messageId of ids) {
    const record = records.get(messageId);
    const explained = record && explainRecord(record, timingsFor(target), now, link);
    const stripe = access && (await ask(access.stripe, messageId, record, now));
    reports.push({
      messageId,
      ...explainMessage(messageId, record, explained, queues),
      record,
      deadLetters: deadLettersOf(messageId, queues),
      ...(stripe && { stripe }),
    });
    progress.advance();
  }
  progress.done();

  if (values.json) printJson(reports.map(forScripts));
  else for (const report of reports) console.log(`${describe(report, link, now)}\n`);
  const asks = ({ needsAction, stripe }: Report) => needsAction || (stripe && !stripe.fine);
  if (reports.some(asks)) process.exitCode = 3;
}

async function ask(
  stripe: Stripe,
  messageId: string,
  record: IdempotencyRecord | undefined,
  now: number,
): Promise<AtStripe> {
  try {
    const intents = await findAtStripe(stripe, messageId, now);
    const recorded = record?.outcome?.paymentIntentId;
    if (recorded !== undefined && !intents.some(({ id }) => id === recorded)) {
      const intent = await retrieveAtStripe(stripe, recorded);
      if (intent) intents.push(intent);
    }
    const comparison = compareWithStripe(record, intents.map(stripeStateOf));
    return {
      intents,
      comparison: comparison.kind,
      sentence: describeComparison(comparison),
      fine: !needsAction(comparison.kind),
    };
  } catch (error) {
    if (!(error instanceof Stripe.errors.StripeError)) throw error;
    const { StripeConnectionError, StripeAPIError } = Stripe.errors;
    const unavailable = error instanceof StripeConnectionError || error instanceof StripeAPIError;
    const what = unavailable ? "Stripe is not available" : "Stripe did not accept the call";
    const sentence = `${what}, so this is the record alone: ${error.message}`;
    return { intents: [], comparison: "unknown", sentence, fine: false };
  }
}

function describe(
  { messageId, lines, next, stripe }: Report,
  link: (id: string) => string,
  now: number,
): string {
  const all: Lines = [...lines, ["next", next]];
  for (const { id, status, amount, currency, created } of stripe?.intents ?? []) {
    all.push(["at Stripe", `${status}, ${amount} ${currency}, ${instant(created * 1_000, now)}`]);
    all.push(["", link(id)]);
  }
  if (stripe) {
    const label = stripe.intents.length === 0 ? "at Stripe" : "";
    all.push([label, styleText(stripe.fine ? "green" : "red", stripe.sentence)]);
  }
  return `${styleText("bold", messageId)}\n${labeled(all)}`;
}

function forScripts({ messageId, state, place, next, record, deadLetters, stripe }: Report) {
  return {
    messageId,
    state,
    place,
    next,
    record,
    ...(deadLetters.length > 0 && {
      deadLetters: deadLetters.map(({ code, why, next }) => ({ reason: code, why, next })),
    }),
    ...(stripe && {
      stripe: {
        comparison: stripe.comparison,
        sentence: stripe.sentence,
        paymentIntents: stripe.intents.map(({ id, status, amount, currency, created }) => ({
          id,
          status,
          amount,
          currency,
          created,
        })),
      },
    }),
  };
}
