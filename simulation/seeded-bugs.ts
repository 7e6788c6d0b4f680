// Bugs that people write into this protocol, each as a small edit of the real code. The proof is
// worth something only if it catches every one.

import { ACKNOWLEDGING } from "./seeded-bugs/acknowledging.ts";
import { ANSWERS } from "./seeded-bugs/answers.ts";
import { CLAIMS } from "./seeded-bugs/claims.ts";
import type { SeededBug } from "./seeded-bugs/load-worker.ts";
import { LOOK_ALIKES } from "./seeded-bugs/look-alikes.ts";
import { LOST_RECORDS } from "./seeded-bugs/lost-records.ts";
import { MONEY } from "./seeded-bugs/money.ts";
import { OUTCOMES } from "./seeded-bugs/outcomes.ts";
import { WINDOWS } from "./seeded-bugs/windows.ts";

export const SEEDED_BUGS: readonly SeededBug[] = [
  ...ACKNOWLEDGING,
  ...CLAIMS,
  ...MONEY,
  ...LOOK_ALIKES,
  ...LOST_RECORDS,
<<<<<<< HEAD
  ...ANSWERS,
  ...WINDOWS,
=======
  ...OUTCOMES,

  // What Stripe answers
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

  // The key window and the deduplication window
  {
    name: "has no key window",
    lesson: "A day later Stripe has forgotten the key, and the same request is a new charge.",
    edits: one(
      "payments/protocol.ts",
      "now() - firstKnownAt >= timings.keyWindowMs",
      "now() - firstKnownAt >= Infinity",
    ),
  },
  {
    name: "trusts Stripe's keys for longer than a day",
    lesson: "Stripe keeps a key for 24 hours, and no longer.",
    edits: one(
      "payments/protocol.ts",
      "now() - firstKnownAt >= timings.keyWindowMs",
      "now() - firstKnownAt >= 25 * 3_600_000",
    ),
  },
  {
    name: "loses firstClaimedAt on takeover",
    lesson: "The age that counts is that of the key's first use, not of the latest attempt.",
    edits: one(
      "payments/claim.ts",
      "firstClaimedAt: existing.firstClaimedAt,",
      "firstClaimedAt: now,",
    ),
  },
  {
    name: "looks up without room for clocks that differ",
    lesson:
      "Stripe's `created` is by Stripe's clock: a PaymentIntent may seem older than the claim that made it.",
    edits: one("payments/protocol.ts", " - LOOK_BACK_MS", ""),
  },
  {
    name: "charges when the lookup failed",
    lesson: "Not to know whether a charge exists is not to know that there is none.",
    edits: one(
      "payments/protocol.ts",
      'if (found.kind !== "none") return { answer: found, lookedUp };',
      'if (found.kind === "outcome") return { answer: found, lookedUp };',
    ),
  },
  {
    name: "writes the TTL in milliseconds",
    lesson: "DynamoDB reads seconds: the record expires in some 50,000 years.",
    edits: one(
      "payments/claim.ts",
      "Math.ceil((now + timings.recordTtlMs) / 1_000)",
      "now + timings.recordTtlMs",
    ),
  },
  {
    name: "forgets a record after a day",
    lesson:
      "The record has to outlive every redelivery: queue, dead-letter queue and the operator's vacation.",
    edits: one("payments/claim.ts", "now + timings.recordTtlMs", "now + 86_400_000"),
  },
  {
    name: "accepts messages of any age",
    lesson:
      "A message older than the deduplication window may have been charged, and nobody knows.",
    edits: one("message/decode.ts", "now - limits.maxMessageAgeMs", "now - Infinity"),
  },
>>>>>>> 1046bc1 (Simulate the outcome publisher and the finalizer beside the worker)
  ...OUTCOMES,
];
