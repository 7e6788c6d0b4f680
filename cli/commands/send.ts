// payments send: puts payment messages into a queue, local or in AWS.
import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";

import { SendMessageBatchCommand } from "@aws-sdk/client-sqs";
import type { SendMessageBatchResult, SQSClient } from "@aws-sdk/client-sqs";

import { messageBody, SHAPES } from "../../scripts/message-body.ts";
import { isLocal, sqsFor } from "../clients/clients.ts";
import { findTarget, need, TARGET_OPTIONS } from "../clients/target.ts";
import { choice, flag, integer, readArguments, text } from "../terminal/arguments.ts";
import type { ValuesOf } from "../terminal/arguments.ts";
import { interruptSignal, UsageError } from "../terminal/command.ts";
import { confirm } from "../terminal/confirm.ts";
import { plural, printJson, say } from "../terminal/print.ts";
import { startProgress } from "../terminal/progress.ts";

const MANY = [1, 999_999] as const;

export const COMMAND = {
  name: "send",
  usage: "npm run payments -- send [options]      (also: npm run send -- …)",
  about: "Sends payment messages to a queue.",
  options: {
    ...TARGET_OPTIONS,
    amount: integer(
      "N",
      "in minor units, never scaled: 1250 is €12.50, 80 is ¥80",
      [1, 999_999_999_999],
      1250,
    ),
    currency: text("CODE", "ISO 4217", "eur"),
    customer: text("cus_…", "the Stripe customer", "cus_local"),
    "payment-method": text("pm_…", "the Stripe PaymentMethod", "pm_card_visa"),
    id: text("ID", "the message id (default: a new one for each message)"),
    shape: choice("SHAPE", "the shape of the body", SHAPES, "plain"),
    file: text("FILE", "sends this file as one body; a .jsonl file as one body per line"),
    count: integer("N", "N messages, each with an id of its own", MANY, 1),
    repeat: integer("N", "each message N times, like a producer that retries", MANY, 1),
    yes: flag("does not ask; it asks only for a queue that is not on this machine"),
    json: flag("for scripts"),
  },
  notes: `
On the local stack, what a payment may become:
  --payment-method pm_card_chargeDeclined          declined (card_declined)
  --payment-method pm_card_threeDSecureRequired    declined (authentication_required)
  --payment-method pm_usBankAccount_processing     processing
  --payment-method pm_card_foo                     rejected: Stripe knows no such PaymentMethod
  --customer cus_missing                           rejected: Stripe knows no such customer
  --currency xyz                                   invalid for the worker: not sent to Stripe

Needs the queue. Other targets: payments --help. A message sent to a deployed stack is charged with
the key in that stack's secret, and if that is a live key, it takes real money.`,
  examples: [
    "npm run payments -- send --amount 80 --currency jpy",
    "npm run payments -- send --id order-1 --repeat 3   # charged once",
    "npm run payments -- send --count 50 --shape sns",
    "npm run payments -- send --stack PaymentWorker-dev --customer cus_123 --payment-method pm_456",
  ],
};

const SQS_BATCH = 10;

type Message = { label: string; body: string };

export async function run(args: string[]): Promise<void> {
  const { values } = readArguments(COMMAND, args);
  const { repeat } = values;
  const messages = values.file === undefined ? compose(values) : readBodies(values.file);
  const queueUrl = need(await findTarget(values), "queueUrl");
  const client = sqsFor(queueUrl);
  const sends = messages.flatMap((message) => Array.from({ length: repeat }, () => message));
  const signal = interruptSignal();
  const said = values.file === undefined ? `${values.amount} ${values.currency} each` : values.file;
  const question = `Send ${plural(messages.length, "message")} (${said}) to ${queueUrl}, to be charged?`;
  const asking = { yes: values.yes || isLocal(queueUrl), signal, otherwise: "Nothing was sent." };
  if (!(await confirm(question, asking))) return;

  const { sent, failed } = await sendAll(client, queueUrl, sends, signal);
  for (const { label, problem } of failed) {
    say(`not sent: ${label}: ${problem}`);
    process.exitCode = 1;
  }
  if (values.json) {
    printJson({ queueUrl, sent, failed });
  } else {
    for (const { label, sqsMessageId } of sent) {
      console.log(`sent ${label}  (SQS MessageId ${sqsMessageId})`);
    }
    const left = sends.length - sent.length - failed.length;
    const done =
      left > 0
        ? `interrupted: ${sent.length.toLocaleString("en-US")} of ${sends.length.toLocaleString("en-US")} sent`
        : `${plural(messages.length, "message")}, ${plural(sent.length, "send")}`;
    console.log(`${done}, to ${queueUrl}`);
  }
  if (signal.aborted) process.exitCode = 130;
}

function compose(values: ValuesOf<typeof COMMAND>): Message[] {
  const { amount, currency, customer, "payment-method": paymentMethod, shape, count } = values;
  if (values.id !== undefined && count > 1) {
    throw new UsageError(
      "--id with --count would give several messages one id: use --repeat to send the same message again.",
    );
  }
  return Array.from({ length: count }, () => {
    const id = values.id ?? randomUUID();
    const operation = { id, sentAt: new Date(), amount, currency, customer, paymentMethod };
    return { label: id, body: messageBody(shape, operation) };
  });
}

/** In batches of ten, until all are sent or Ctrl-C. */
async function sendAll(client: SQSClient, queueUrl: string, sends: Message[], signal: AbortSignal) {
  const sent: { label: string; sqsMessageId: string }[] = [];
  const failed: { label: string; problem: string }[] = [];
  const progress = startProgress("sending", sends.length);
  for (let at = 0; at < sends.length && !signal.aborted; at += SQS_BATCH) {
    const batch = sends.slice(at, at + SQS_BATCH);
    const labelOf = (entry: string | undefined): string => batch[Number(entry)]?.label ?? "";
    const { Successful = [], Failed = [] }: Partial<SendMessageBatchResult> = await client.send(
      new SendMessageBatchCommand({
        QueueUrl: queueUrl,
        Entries: batch.map(({ body }, index) => ({ Id: String(index), MessageBody: body })),
      }),
    );
    for (const { Id, MessageId = "" } of Successful) {
      sent.push({ label: labelOf(Id), sqsMessageId: MessageId });
    }
    for (const { Id, Code, Message } of Failed) {
      failed.push({ label: labelOf(Id), problem: `${Code} ${Message ?? ""}`.trim() });
    }
    progress.advance(batch.length);
  }
  progress.done();
  return { sent, failed };
}

function readBodies(file: string): Message[] {
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (error) {
    throw new UsageError(`--file ${file} cannot be read: ${(error as Error).message}`, {
      cause: error,
    });
  }
  const bodies = file.endsWith(".jsonl")
    ? text
        .split("\n")
        .map((body, line) => ({ label: `${file}:${line + 1}`, body }))
        .filter(({ body }) => body.trim() !== "")
    : [{ label: file, body: text }];
  if (bodies.every(({ body }) => body === "")) {
    throw new UsageError(`${file} is empty: SQS takes no empty body.`);
  }
  // To the worker it would be a message with odd fields, which is no help.
  const event = bodies.find(({ body }) => isLambdaEvent(body));
  if (event) {
    throw new UsageError(
      `${event.label} is an SQS event: use npm run invoke -- ${file}; --file takes the body alone.`,
    );
  }
  return bodies;
}

function isLambdaEvent(body: string): boolean {
  try {
    return Array.isArray((JSON.parse(body) as { Records?: unknown } | null)?.Records);
  } catch {
    return false; // not JSON: for the worker to call invalid
  }
}
