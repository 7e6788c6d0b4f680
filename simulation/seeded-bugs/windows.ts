// Bugs in the key window and the deduplication window.

import { one } from "./load-worker.ts";
import type { SeededBug } from "./load-worker.ts";

export const WINDOWS: readonly SeededBug[] = [
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
];
