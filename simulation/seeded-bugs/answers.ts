// Bugs in what Stripe's answers mean.

import { one } from "./load-worker.ts";
import type { SeededBug } from "./load-worker.ts";

export const ANSWERS: readonly SeededBug[] = [
  {
    name: "retries a decline",
    lesson:
      "Stripe replays a decline for the same key: every retry is the same decline, and the message ends in the dead-letter queue without its outcome.",
    shows: "recovers",
    edits: one(
      "stripe/answers.ts",
      'error.type === "StripeCardError" && error.rawType === "card_error"',
      "false",
    ),
  },
  {
    name: "takes an unknown result for a decline",
    lesson:
      "The connection broke after Stripe had charged: the customer has paid, and the table says that the card was declined.",
    edits: one(
      "stripe/answers.ts",
      'error.type === "StripeCardError" && error.rawType === "card_error"',
      'error.type === "StripeCardError" || error.type === "StripeConnectionError"',
    ),
  },
  {
    name: "takes a key in use for a decline",
    lesson: "409 says that the first request is still running. It may succeed.",
    edits: one(
      "stripe/answers.ts",
      'error.type === "StripeCardError" && error.rawType === "card_error"',
      'error.type === "StripeCardError" || error.code === "idempotency_key_in_use"',
    ),
  },
  {
    name: "takes a bank debit that is processing for paid",
    lesson: "The money may arrive in days, or never.",
    edits: one(
      "stripe/answers.ts",
      'outcome: { result: "processing", paymentIntentId }',
      'outcome: { result: "succeeded", paymentIntentId }',
    ),
  },
];
