import { expect, test } from "vitest";

import { explainMessage } from "../../cli/explain/explain-message.ts";
import { explainRecord } from "../../cli/explain/explain-record.ts";
import type { DeadLetter } from "../../cli/queue/dead-letters.ts";
import { describePlace, placeOf } from "../../cli/queue/locate.ts";
import type { Queues } from "../../cli/queue/locate.ts";
import type { IdempotencyRecord } from "../../lib/payments/record.ts";
import { WORKER_TIMINGS } from "../support/timings.ts";

const NOW = Date.parse("2026-11-29T12:00:00Z");

const RELEASED: IdempotencyRecord = {
  messageId: "order-1",
  status: "IN_PROGRESS",
  owner: "o-1",
  leaseExpiresAt: 0,
  attempt: 2,
  firstClaimedAt: NOW - 90_000,
  fingerprint: "f",
  expiresAt: 1_799_000_000,
  lastError: { kind: "stripe_rejected", code: "resource_missing", param: "customer" },
};
const PAID: IdempotencyRecord = {
  ...RELEASED,
  status: "COMPLETED",
  outcome: { result: "succeeded", paymentIntentId: "pi_1" },
};
const LETTER: DeadLetter = {
  messageId: "order-1",
  sqsMessageId: "sqs-1",
  sentAt: NOW,
  receiveCount: 5,
  attempt: 2,
  code: "conflict",
  why: "Its message id was used before.",
  next: "The first payment stands.",
};

const depth = (visible: number, inFlight: number, delayed: number) => ({
  arn: "arn",
  visible,
  inFlight,
  delayed,
  retentionMs: 1,
  maxReceiveCount: 5,
});
const EMPTY: Queues = { queue: depth(0, 0, 0), dead: { letters: [], complete: true } };
const DEAD: Queues = { ...EMPTY, dead: { letters: [LETTER], complete: true } };
const DELAYED: Queues = { ...EMPTY, queue: depth(0, 0, 1) };
const PARTLY: Queues = { ...EMPTY, dead: { letters: [], complete: false } };
const DENIED: Queues = { ...EMPTY, dead: { problem: "AccessDenied" } };

test.each<[string, Queues, string]>([
  ["in the dead-letter queue", DEAD, "dead-letter queue"],
  ["waiting for its backoff, perhaps", DELAYED, "queue or gone"],
  ["in neither queue", EMPTY, "gone"],
  ["beyond an interrupted peek", PARTLY, "unknown"],
  ["beyond a peek that SQS denied", DENIED, "unknown"],
  ["in queues that are not named", {}, "unknown"],
])("a message %s", (_, queues, place) => {
  expect(placeOf("order-1", queues)).toBe(place);
});

const explain = (record: IdempotencyRecord | undefined, queues: Queues) =>
  explainMessage(
    "order-1",
    record,
    record && explainRecord(record, WORKER_TIMINGS, NOW, (id) => id),
    queues,
  );

test.each<[string, IdempotencyRecord | undefined, Queues, boolean, RegExp]>([
  ["paid", PAID, EMPTY, false, /^nothing\. A further delivery/],
  ["paid, and a conflict of its id", PAID, DEAD, true, /^The first payment stands\.$/],
  ["released, and dead", RELEASED, DEAD, true, /^The first payment stands\.$/],
  ["released, and delayed", RELEASED, DELAYED, false, /^if it is in the queue, with the next del/],
  ["released, and gone", RELEASED, EMPTY, true, /^its message is in neither queue: the sender/],
  ["released, place unknown", RELEASED, {}, false, /\(payments dlq\): Fix at Stripe what it names/],
  ["never claimed, and gone", undefined, EMPTY, true, /^it is in neither queue: it was never sent/],
  ["never claimed, and delayed", undefined, DELAYED, false, /^if it is in the queue, it will be/],
  [
    "never claimed, place unknown",
    undefined,
    DENIED,
    false,
    /or is invalid and in the dead-letter/,
  ],
])("what comes next: %s", (_, record, queues, needsAction, next) => {
  const explained = explain(record, queues);

  expect(explained.next).toMatch(next);
  expect(explained.needsAction).toBe(needsAction);
});

test("two dead letters with one reason are explained once", () => {
  const dead = { letters: [LETTER, { ...LETTER, sqsMessageId: "sqs-2" }], complete: true };

  const { lines } = explain(PAID, { ...EMPTY, dead });

  expect(lines.filter(([label]) => label === "dead-letter queue")).toEqual([
    ["dead-letter queue", "conflict: Its message id was used before."],
  ]);
});

test.each<[Queues, string]>([
  [DEAD, "its message is in the dead-letter queue, conflict: The first payment stands."],
  [EMPTY, "its message is gone: the sender sends it again, with the same id"],
  [DELAYED, "its message is in the queue, or gone: reconcile again when the queue is empty"],
])("the place of a stuck claim's message", (queues, sentence) => {
  expect(describePlace("order-1", queues)).toBe(sentence);
});
