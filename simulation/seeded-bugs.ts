// Bugs that people write into this protocol, each as a small edit of the real code. The proof is
// worth something only if it catches every one.

import type { SeededBug } from "./seeded-bugs/load-worker.ts";
import { LOOK_ALIKES } from "./seeded-bugs/look-alikes.ts";
import { LOST_RECORDS } from "./seeded-bugs/lost-records.ts";

const ACKNOWLEDGED = 'case "duplicate":\n      return { kind: "acknowledge" };';

const acknowledging = (decision: string): SeededBug["edits"] => [
  {
    file: "lambda/payment-handler.ts",
    find: ACKNOWLEDGED,
    replace: `case "duplicate":\n    case "${decision}":\n      return { kind: "acknowledge" };`,
  },
];

const one = (file: string, find: string, replace: string): SeededBug["edits"] => [
  { file, find, replace },
];

export const SEEDED_BUGS: readonly SeededBug[] = [
  // Acknowledging
  {
    name: "acknowledges a claim that is in progress",
    lesson:
      "A claim says that a worker began, not that it finished: if that worker dies, nobody has the message any more.",
    edits: acknowledging("in_progress"),
  },
  {
    name: "acknowledges after it lost its lease",
    lesson: "The worker that took the claim over has not finished yet, and may die.",
    shows: "acknowledged",
    edits: acknowledging("lease_lost"),
  },
  {
    name: "acknowledges a failure that may pass",
    lesson: "The queue is the retry. An acknowledged failure is a lost payment.",
    edits: acknowledging("transient"),
  },
  {
    name: "acknowledges an invalid message",
    lesson:
      "What cannot be processed has to reach the dead-letter queue, where an operator sees it.",
    edits: acknowledging("invalid"),
  },
  {
    name: "acknowledges a conflict",
    lesson: "The second payment under one id was never made: an operator has to decide.",
    edits: acknowledging("conflict"),
  },
  {
    name: "acknowledges although the outcome could not be recorded",
    lesson:
      "Money has moved and the table does not know: a repeat would find an unfinished claim, and no message is left to finish it.",
    edits: one(
      "payments/protocol.ts",
      "completion, deadline.tableCallMs());",
      "completion, deadline.tableCallMs()).catch(() => true);",
    ),
  },
  {
    name: "answers that the whole batch succeeded",
    lesson: "Without `batchItemFailures` Lambda deletes every message of the batch.",
    edits: one(
      "sqs/handler.ts",
      "retries.map(({ delivery }) => ({ itemIdentifier: delivery.sqsMessageId })),",
      "[],",
    ),
  },

  // The claim
  {
    name: "reads before it claims, instead of a condition",
    lesson:
      "Two workers can both read nothing and both write. Only a condition in the write itself lets one of them win.",
    edits: [
      {
        file: "aws/records-table.ts",
        find: "import { PutCommand, UpdateCommand }",
        replace: "import { GetCommand, PutCommand, UpdateCommand }",
      },
      {
        file: "aws/records-table.ts",
        find: "async claim(record, timeoutMs) {\n",
        replace: `async claim(record, timeoutMs) {
          const get = new GetCommand({ TableName: tableName, Key: { messageId: record.messageId } });
          const abortSignal = AbortSignal.timeout(timeoutMs);
          const { Item } = await client.send(get, { abortSignal });
          if (Item) return Item;\n`,
      },
      {
        file: "aws/records-table.ts",
        find: "ConditionExpression: NOBODY_CLAIMED,",
        replace: "",
      },
    ],
  },
  {
    name: "takes its own lost put for another worker's",
    lesson:
      "When a put's reply is lost, the SDK sends it again, and it fails against itself. A worker that does not recognize its own owner token waits for nobody.",
    edits: one(
      "payments/record.ts",
      'if (existing.owner === ours.owner) return { kind: "ours" };',
      "",
    ),
  },
  {
    name: "takes over whatever stands there now",
    lesson:
      "Between reading an expired claim and taking it over, another worker may have taken it: the condition has to name the owner and the lease that were seen.",
    edits: one(
      "aws/records-table.ts",
      "ConditionExpression: AS_SEEN,",
      'ConditionExpression: "attribute_exists(messageId)",',
    ),
  },
  {
    name: "goes on although its takeover failed",
    lesson:
      "Of two workers that find the same expired claim, only one gets it. The other has to look at what stands there now.",
    edits: one("payments/claim.ts", "if (!standing) return", "return"),
  },
  {
    name: "takes over a claim whose lease is live",
    lesson: "A claim protects nothing when it may be taken from a worker that is charging.",
    edits: one(
      "payments/record.ts",
      "existing.leaseExpiresAt > now",
      "existing.leaseExpiresAt > Infinity",
    ),
  },
  {
    name: "compares a lease in milliseconds with a clock in seconds",
    lesson: "Every lease is live for ever, and a message whose worker died is never paid.",
    edits: one(
      "payments/record.ts",
      "existing.leaseExpiresAt > now",
      "existing.leaseExpiresAt > now / 1_000",
    ),
  },
  {
    name: "holds a lease that is shorter than the work",
    lesson: "The lease expires while the call to Stripe runs, and a second worker begins.",
    edits: one(
      "payments/claim.ts",
      "now + deadline.remainingMs() + timings.clockSkewMs",
      "now + 5_000",
    ),
  },
  {
    name: "holds a lease without room for clocks that differ",
    lesson: "The lease is written by one clock and read by another.",
    edits: one("payments/claim.ts", " + timings.clockSkewMs", ""),
  },
  {
    name: "completes without being the owner",
    lesson: "A worker that was frozen wakes up and completes a claim that is another's by now.",
    edits: one(
      "aws/records-table.ts",
      'ConditionExpression: OURS_IN_PROGRESS,\n        UpdateExpression:\n          "SET #status',
      'ConditionExpression: "#status = :inProgress",\n        UpdateExpression:\n          "SET #status',
    ),
  },
  {
    name: "releases without being the owner",
    lesson:
      "A worker that was frozen wakes up and releases the claim of another that is still running.",
    edits: one(
      "aws/records-table.ts",
      'ConditionExpression: OURS_IN_PROGRESS,\n        UpdateExpression: "SET leaseExpiresAt',
      'ConditionExpression: "#status = :inProgress",\n        UpdateExpression: "SET leaseExpiresAt',
    ),
  },
  {
    name: "deletes the record when it fails",
    lesson:
      "With the record goes the time of the first claim, and so the knowledge that Stripe may have forgotten the key.",
    shows: "one_charge",
    edits: [
      {
        file: "aws/records-table.ts",
        find: "import { PutCommand, UpdateCommand }",
        replace: "import { DeleteCommand, PutCommand, UpdateCommand }",
      },
      {
        file: "aws/records-table.ts",
        find: "async release(claim, error, timeoutMs) {\n",
        replace: `async release(claim, error, timeoutMs) {
          await conditional(new DeleteCommand({
            TableName: tableName,
            Key: { messageId: claim.messageId },
            ConditionExpression: OURS_IN_PROGRESS,
            ExpressionAttributeNames: NAMES,
            ExpressionAttributeValues: { ":owner": claim.owner, ":inProgress": "IN_PROGRESS" },
          }), timeoutMs);
          return;\n`,
      },
    ],
  },
  {
    name: "returns a message at once while its claim is live",
    lesson:
      "It uses up its receives while the claim is live, and reaches the dead-letter queue although nothing is wrong with it.",
    edits: one(
      "sqs/visibility.ts",
      "Math.max(1, Math.ceil(Math.min(disposition.time - now, LONGEST_WAIT_MS) / 1_000))",
      "0",
    ),
  },
  {
    name: "retries without backing off",
    lesson: "An outage at Stripe uses up every message's receives.",
    edits: one(
      "sqs/visibility.ts",
      "backoffCeilingMs(backoff, receiveCount)",
      "backoff.backoffBaseMs",
    ),
  },

  // Identity and money
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
    lesson: "The key is what tells Stripe that it is the same attempt to pay.",
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

  ...LOOK_ALIKES,
  ...LOST_RECORDS,

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
];
