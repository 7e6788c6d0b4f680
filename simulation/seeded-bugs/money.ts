// Bugs in the identity of a payment and in what is charged.

import { one } from "./load-worker.ts";
import type { SeededBug } from "./load-worker.ts";

export const MONEY: readonly SeededBug[] = [
  {
    name: "keys by SQS's MessageId",
    lesson:
      "The producer's retry, and a redrive, get another MessageId: the same payment is another one.",
    shows: "one_charge",
    edits: one(
      "lambda/payment-handler.ts",
      "chargeRequest(decoded.message)",
      "chargeRequest({ ...decoded.message, id: delivery.sqsMessageId })",
    ),
  },
  {
    name: "takes a new idempotency key for each attempt",
    lesson: "Only the key shows Stripe that it is the same attempt to pay.",
    edits: one(
      "payments/protocol.ts",
      "idempotencyKey: claim.messageId",
      "idempotencyKey: claim.owner",
    ),
  },
  {
    name: "puts a clock into the request",
    lesson:
      "The body has to be a pure function of the message, or a repeat looks like another payment.",
    edits: one(
      "payments/charge.ts",
      "message_id: id }",
      "message_id: id, charged_at: String(performance.now()) }",
    ),
  },
  {
    name: "charges another payment under the same id",
    lesson:
      "A changed amount under a known id is an error of the sender, which only the sender can resolve.",
    edits: one(
      "payments/record.ts",
      'if (existing.fingerprint !== ours.fingerprint) return { kind: "conflict" };',
      "",
    ),
  },
  {
    name: "scales the amount",
    lesson: "Amounts are minor units already.",
    edits: one(
      "payments/charge.ts",
      "return {\n    amount,",
      "return {\n    amount: amount * 100,",
    ),
  },
  {
    name: "rounds an amount with decimals",
    lesson: "Nobody asked for this amount.",
    edits: one(
      "message/payment.ts",
      "const digits = plainDigits(value);",
      "const digits = String(Math.round(Number(value)));",
    ),
  },
  {
    name: "runs two copies in one batch side by side",
    lesson: "The second finds the claim of the first, its own worker's, and burns a receive.",
    edits: [
      {
        file: "sqs/once-per-key.ts",
        find: "if (same) return { result: await same.result, copy: true };",
        replace: "",
      },
      {
        file: "sqs/once-per-key.ts",
        find: "before ? before.then(run, run) : run()",
        replace: "run()",
      },
    ],
  },
];
