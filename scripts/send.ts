// npm run send: puts payment messages into a queue, local or in AWS.
import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { SendMessageBatchCommand } from "@aws-sdk/client-sqs";
import { readArguments, runCommand, UsageError } from "./command.ts";
import { messageBody, SHAPES, type Shape } from "./message-body.ts";
import { findQueue } from "./target-queue.ts";

const HELP = `
npm run send -- [options]      sends payment messages to a queue

What is sent
  --amount N             minor units, never scaled: 1250 is €12.50, 80 is ¥80     (default 1250)
  --currency CODE        ISO 4217                                                 (default eur)
  --customer cus_…       the Stripe customer                                      (default cus_local)
  --payment-method pm_…  the Stripe PaymentMethod                                 (default pm_card_visa)
  --id ID                the message id                          (default: a new one for each message)
  --shape SHAPE          ${SHAPES.join(", ")}  (default plain)
  --file FILE            send this file's text instead, as one body; a .jsonl file as one a line
  --count N              so many messages, each with an id of its own             (default 1)
  --repeat N             each message so often, as a producer that retries does   (default 1)

Where to
  --queue-url URL        this queue
  --outputs FILE         the queue of a deployed stack, from the file of: cdk deploy --outputs-file FILE
  neither                the local stack that npm start keeps up

Examples
  npm run send -- --amount 80 --currency jpy
  npm run send -- --id order-1 --repeat 3                        charged once
  npm run send -- --payment-method pm_card_chargeDeclined        recorded as declined
  npm run send -- --count 500 --shape sns
  npm run send -- --outputs outputs.json --customer cus_123 --payment-method pm_456

A message sent to a deployed stack is charged with the key in that stack's secret.
`;

const SQS_BATCH = 10;

await runCommand(async () => {
  const { values, positionals } = readArguments(HELP, {
    amount: { type: "string", default: "1250" },
    currency: { type: "string", default: "eur" },
    customer: { type: "string", default: "cus_local" },
    "payment-method": { type: "string", default: "pm_card_visa" },
    id: { type: "string" },
    shape: { type: "string", default: "plain" },
    file: { type: "string" },
    count: { type: "string", default: "1" },
    repeat: { type: "string", default: "1" },
    "queue-url": { type: "string" },
    outputs: { type: "string" },
  });
  if (positionals.length > 0) {
    throw new UsageError(`"${positionals[0]}" is not an option of send. See --help.`);
  }
  const count = positiveInteger("--count", values.count);
  const repeat = positiveInteger("--repeat", values.repeat);
  const messages = values.file === undefined ? compose() : readBodies(values.file);

  function compose(): { label: string; body: string }[] {
    const { id } = values;
    if (id !== undefined && count > 1) {
      throw new UsageError(
        "--id with --count would give several messages one id: use --repeat to send the same message again.",
      );
    }
    const shape = SHAPES.find((known) => known === values.shape);
    if (!shape) throw new UsageError(`--shape must be one of ${SHAPES.join(", ")}.`);
    return Array.from({ length: count }, () => composeOne(shape, id ?? randomUUID()));
  }

  function composeOne(shape: Shape, id: string): { label: string; body: string } {
    const body = messageBody(shape, {
      id,
      sentAt: new Date(),
      amount: positiveInteger("--amount", values.amount),
      currency: values.currency,
      customer: values.customer,
      paymentMethod: values["payment-method"],
    });
    return { label: id, body };
  }

  const { queueUrl, client } = findQueue(values["queue-url"], values.outputs);
  const sends = messages.flatMap((message) => Array.from({ length: repeat }, () => message));
  for (let at = 0; at < sends.length; at += SQS_BATCH) {
    const batch = sends.slice(at, at + SQS_BATCH);
    const { Successful = [], Failed = [] } = await client.send(
      new SendMessageBatchCommand({
        QueueUrl: queueUrl,
        Entries: batch.map(({ body }, index) => ({ Id: String(index), MessageBody: body })),
      }),
    );
    for (const { Id, MessageId } of Successful) {
      console.log(`sent ${batch[Number(Id)]?.label}  (SQS MessageId ${MessageId})`);
    }
    for (const { Id, Code, Message } of Failed) {
      console.error(`not sent: ${batch[Number(Id)]?.label}: ${Code} ${Message ?? ""}`);
      process.exitCode = 1;
    }
  }
  console.log(
    `${plural(messages.length, "message")}, ${plural(sends.length, "send")}, to ${queueUrl}`,
  );
});

function readBodies(file: string): { label: string; body: string }[] {
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (error) {
    throw new UsageError(`--file ${file} cannot be read: ${(error as Error).message}`, {
      cause: error,
    });
  }
  if (!file.endsWith(".jsonl")) return [{ label: file, body: text }];
  return text
    .split("\n")
    .map((body, line) => ({ label: `${file}:${line + 1}`, body }))
    .filter(({ body }) => body.trim() !== "");
}

function positiveInteger(option: string, value: string): number {
  if (!/^[1-9]\d{0,8}$/.test(value)) {
    throw new UsageError(`${option} must be an integer of 1 or more, not "${value}".`);
  }
  return Number(value);
}

function plural(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}
