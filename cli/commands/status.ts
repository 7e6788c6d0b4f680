// payments status: what became of a message, what will happen next, and whether Stripe agrees.
import { styleText } from "node:util";

import { Stripe } from "stripe";

import type { IdempotencyRecord } from "../../lib/payments/record.ts";
import { compareWithStripe } from "../../lib/reconcile/comparison.ts";
import type { Comparison } from "../../lib/reconcile/comparison.ts";
import { stripeStateOf } from "../../lib/stripe/payment-intents.ts";
import { tableFor, timingsFor } from "../clients/clients.ts";
import { readRecords } from "../clients/records.ts";
import { stripeFor } from "../clients/stripe-access.ts";
import type { StripeAccess } from "../clients/stripe-access.ts";
import { findTarget, need, TARGET_OPTIONS } from "../clients/target.ts";
import { findAtStripe, retrieveAtStripe } from "../explain/ask-stripe.ts";
import type { Found } from "../explain/ask-stripe.ts";
import { describeComparison, needsAction } from "../explain/explain-difference.ts";
import { deadLettersOf, explainMissing, lookForDeadLetters } from "../explain/explain-missing.ts";
import { explainRecord } from "../explain/explain-record.ts";
import type { Explanation } from "../explain/explain-record.ts";
import { linkFor } from "../explain/payment-intent-link.ts";
import { deadLetterQueueOf } from "../queue/dead-letters.ts";
import type { DeadLetter } from "../queue/dead-letters.ts";
import { readArguments, UsageError } from "../terminal/command.ts";
import { interruptSignal } from "../terminal/interrupt.ts";
import { refuseEmptyIds } from "../terminal/message-id.ts";
import { instant, printJson } from "../terminal/print.ts";
import { startProgress } from "../terminal/progress.ts";

const HELP = `
npm run payments -- status ID… [--stripe] [--json]      explains what became of messages

  --stripe     asks Stripe too, and says whether record and Stripe agree. It only reads.
  --json       for scripts

What has no record may have been refused: then it looks through the dead-letter queue, as payments dlq
does, and says why.

Examples
  npm run payments -- status order-1
  npm run payments -- status order-1 order-2 --stripe --stack PaymentWorker-prod

Needs the table, and the dead-letter queue for what has no record; --stripe needs the secret, or
STRIPE_API_KEY. Other places: payments --help.
Exit status 3 when Stripe and a record do not agree, or Stripe does not answer.
`;

type Report = Explanation & {
  messageId: string;
  record: IdempotencyRecord | undefined;
  /** What the dead-letter queue holds of a message without a record. */
  deadLetters: DeadLetter[];
  stripe?: AtStripe;
};

type AtStripe = { intents: Found[] } & (
  | { comparison: Comparison }
  /** Stripe did not answer: what it said instead. */
  | { problem: string }
);

export async function run(args: string[]): Promise<void> {
  const { values, positionals: ids } = readArguments(
    HELP,
    {
      ...TARGET_OPTIONS,
      stripe: { type: "boolean", default: false },
      json: { type: "boolean", default: false },
    },
    args,
  );
  if (ids.length === 0) throw new UsageError("Name at least one message id. See --help.");
  refuseEmptyIds(ids);
  const target = await findTarget(values);
  using access = values.stripe ? await stripeFor(target, 1) : undefined;
  const link = access?.link ?? linkFor(target);
  const now = Date.now();
  const records = await readRecords(tableFor(target), need(target, "tableName"), ids);
  const look = ids.some((id) => !records.has(id)) && target.resources.dlqUrl !== undefined;
  const signal = look ? interruptSignal() : undefined;
  const dead = signal && (await lookForDeadLetters(deadLetterQueueOf(target), signal));
  if (signal?.aborted) {
    process.exitCode = 130;
    return;
  }

  const reports: Report[] = [];
  const progress = startProgress("at Stripe", ids.length);
  for (const messageId of ids) {
    const record = records.get(messageId);
    const explanation = record
      ? explainRecord(record, timingsFor(target), now, link)
      : explainMissing(messageId, dead);
    const deadLetters = record ? [] : deadLettersOf(messageId, dead);
    const stripe = access && (await ask(access, messageId, record, now));
    reports.push({ messageId, ...explanation, record, deadLetters, ...(stripe && { stripe }) });
    progress.advance();
  }
  progress.done();

  if (values.json) printJson(reports.map(forScripts));
  else for (const report of reports) process.stdout.write(`${describe(report, link, now)}\n`);
  if (reports.some(({ stripe }) => stripe && !isFine(stripe))) process.exitCode = 3;
}

async function ask(
  { stripe }: StripeAccess,
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
    return { comparison: compareWithStripe(record, intents.map(stripeStateOf)), intents };
  } catch (error) {
    // In an outage the record is what there is to go by.
    if (!(error instanceof Stripe.errors.StripeError)) throw error;
    return { problem: error.message, intents: [] };
  }
}

function isFine(stripe: AtStripe): boolean {
  if ("problem" in stripe) return false;
  return !needsAction(stripe.comparison.kind);
}

function sentenceOf(stripe: AtStripe): string {
  if ("comparison" in stripe) return describeComparison(stripe.comparison);
  return `Stripe did not answer, so the record is all there is: ${stripe.problem}`;
}

function describe(
  { messageId, lines, stripe }: Report,
  link: (id: string) => string,
  now: number,
): string {
  const all = [...lines];
  for (const intent of stripe?.intents ?? []) {
    const { id, status, amount, currency, created } = intent;
    all.push(["at Stripe", `${status}, ${amount} ${currency}, ${instant(created * 1_000, now)}`]);
    all.push(["", link(id)]);
  }
  const label = stripe?.intents.length === 0 ? "at Stripe" : "";
  if (stripe) all.push([label, styleText(isFine(stripe) ? "green" : "red", sentenceOf(stripe))]);
  const width = Math.max(...all.map(([label]) => label.length));
  const text = all.map(([label, text]) => `  ${label.padEnd(width)}  ${text}`);
  return `${styleText("bold", messageId)}\n${text.join("\n")}\n`;
}

function forScripts({ messageId, state, record, deadLetters, lines, stripe }: Report) {
  return {
    messageId,
    state,
    next: lines.find(([label]) => label === "next")?.[1],
    record,
    ...(deadLetters.length > 0 && {
      deadLetters: deadLetters.map(({ code, why, next }) => ({ reason: code, why, next })),
    }),
    ...(stripe && {
      stripe: {
        comparison: "comparison" in stripe ? stripe.comparison.kind : "unknown",
        sentence: sentenceOf(stripe),
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
