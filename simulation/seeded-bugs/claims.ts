// Bugs in the claim, its lease and its takeover.

import { one } from "./load-worker.ts";
import type { SeededBug } from "./load-worker.ts";

export const CLAIMS: readonly SeededBug[] = [
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
];
