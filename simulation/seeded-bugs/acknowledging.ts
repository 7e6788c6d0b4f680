// Bugs in what the worker acknowledges.

import { one } from "./load-worker.ts";
import type { SeededBug } from "./load-worker.ts";

const ACKNOWLEDGED = 'case "duplicate":\n      return { kind: "acknowledge" };';

const acknowledging = (decision: string): SeededBug["edits"] => [
  {
    file: "lambda/payment-handler.ts",
    find: ACKNOWLEDGED,
    replace: `case "duplicate":\n    case "${decision}":\n      return { kind: "acknowledge" };`,
  },
];

export const ACKNOWLEDGING: readonly SeededBug[] = [
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
];
