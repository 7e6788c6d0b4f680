// npm run smoke: one payment through a deployed stack, between two stages of a pipeline.
import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";

import { SendMessageCommand } from "@aws-sdk/client-sqs";

import { sqsFor, tableFor } from "../cli/clients/clients.ts";
import { readRecords } from "../cli/clients/records.ts";
import { findTarget, need, TARGET_OPTIONS } from "../cli/clients/target.ts";
import { integer, readArguments, text } from "../cli/terminal/arguments.ts";
import { runCommand } from "../cli/terminal/command.ts";
import type { IdempotencyRecord } from "../lib/payments/record.ts";
import { messageBody } from "./message-body.ts";

const { stack, outputs, table, "queue-url": queueUrl } = TARGET_OPTIONS;

const COMMAND = {
  name: "smoke",
  usage: "npm run smoke -- --stack PaymentWorker-dev --customer cus_… --payment-method pm_…",
  about: `
Sends one payment and waits until its record says succeeded. It has a message id of its own, so each run
is one more charge: only for a stage whose Stripe key is in test mode.`,
  options: {
    stack,
    outputs,
    table,
    "queue-url": queueUrl,
    customer: text("cus_…", "the Stripe customer", "cus_local"),
    "payment-method": text("pm_…", "the Stripe PaymentMethod", "pm_card_visa"),
    amount: integer("N", "in minor units", [1, 999_999_999_999], 100),
    currency: text("CODE", "ISO 4217", "eur"),
    wait: integer("SECONDS", "how long to wait", [1, 3_600], 180),
  },
  notes: `
Needs the queue and the table. Other targets: npm run payments -- --help.

Exit status 0 when the payment succeeded, 1 when it did not, or not in time.`,
};

const POLL_MS = 500;

await runCommand(async () => {
  const { values } = readArguments(COMMAND);
  const target = await findTarget(values);
  const url = need(target, "queueUrl");
  const tableName = need(target, "tableName");
  const id = `smoke-${randomUUID()}`;
  const { amount, currency, customer, "payment-method": paymentMethod } = values;
  const sentAt = new Date();
  const operation = { id, sentAt, amount, currency, customer, paymentMethod };
  const MessageBody = messageBody("plain", operation);
  await sqsFor(url).send(new SendMessageCommand({ QueueUrl: url, MessageBody }));
  console.log(`sent ${id} to ${target.name}`);

  const records = tableFor(target);
  const until = sentAt.getTime() + values.wait * 1_000;
  let record: IdempotencyRecord | undefined;
  do {
    await sleep(POLL_MS);
    record = (await readRecords(records, tableName, [id])).get(id);
  } while (!record?.outcome && Date.now() < until);

  const { result, paymentIntentId } = record?.outcome ?? {};
  if (result === "succeeded") {
    console.log(`${id} succeeded, ${paymentIntentId}`);
    return;
  }
  console.error(`${id} ${explain(record, values.wait)}. \`payments status ${id}\` says more.`);
  process.exitCode = 1;
});

function explain(record: IdempotencyRecord | undefined, seconds: number): string {
  const { outcome, lastError } = record ?? {};
  if (outcome) return `is ${outcome.result}${"code" in outcome ? `, ${outcome.code}` : ""}`;
  if (!record) return `was not claimed within ${seconds} s: nothing takes messages from the queue`;
  const error =
    [lastError?.kind, lastError?.code].filter(Boolean).join(", ") || "no error recorded";
  return `has no outcome after ${seconds} s: ${error}`;
}
