import { expect, test } from "vitest";

import { explainMessage } from "../../cli/explain/explain-message.ts";
import { describeOutcome, explainRecord } from "../../cli/explain/explain-record.ts";
import type { DeadLetter } from "../../cli/queue/dead-letters.ts";
import { describePlace, placeOf } from "../../cli/queue/locate.ts";
import type { Queues } from "../../cli/queue/locate.ts";
import type { IdempotencyRecord } from "../../lib/payments/record.ts";
import { WORKER_TIMINGS } from "../support/timings.ts";

const NOW = Date.parse("2026-11-29T12:00:00Z");

const CLAIM: IdempotencyRecord = {
  messageId: "order-1",
  status: "IN_PROGRESS",
  owner: "o-1",
  leaseExpiresAt: NOW + 30_000,
  attempt: 2,
  firstClaimedAt: NOW - 90_000,
  fingerprint: "f",
  expiresAt: NOW / 1_000 + 3_000_000,
};
const RELEASED: IdempotencyRecord = {
  ...CLAIM,
  leaseExpiresAt: 0,
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
  expect(explain(record, queues)).toMatchObject({
    next: expect.stringMatching(next) as string,
    needsAction,
  });
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

function explained(changes: Partial<IdempotencyRecord>) {
  const record = { ...CLAIM, ...changes };
  const { state, next, lines } = explainRecord(record, WORKER_TIMINGS, NOW, (id) => `see ${id}`);
  return { state, next, ...Object.fromEntries(lines) } as Record<string, string>;
}

test("a claim under a live lease: who has it, until when, and what happens if they die", () => {
  const text = explained({});

  expect(text).toMatchObject({
    state: "in_progress",
    outcome: "none yet: attempt 2 is running",
    "first claimed": "2026-11-29 11:58:30 UTC (90 s ago)",
    lease: "until 2026-11-29 12:00:30 UTC (in 30 s), owner o-1",
  });
  expect(text["next"]).toMatch(
    /or its lease expires and attempt 3 takes over and charges with the/,
  );
});

test("a claim that expired without a release: its worker died", () => {
  const text = explained({ leaseExpiresAt: NOW - 1_000 });

  expect(text["state"]).toBe("expired");
  expect(text["lease"]).toMatch(/^expired 2026-11-29 11:59:59 UTC \(1 s ago\): the worker died/);
});

test("after the key window, the next attempt looks at Stripe before it charges", () => {
  const before = explained({ leaseExpiresAt: 0, firstClaimedAt: NOW - 23 * 3_600_000 + 1 });
  const after = explained({ leaseExpiresAt: 0, firstClaimedAt: NOW - 23 * 3_600_000 });

  expect(before["next"]).toContain("charges with the same key");
  expect(after["next"]).toContain("looks at Stripe before it charges");
});

test.each([
  ["succeeded", /^nothing\. A further delivery is acknowledged as a duplicate until 2027-01-03/],
  ["processing", /^nothing here: it is not paid yet, which may take days/],
  ["requires_action", /^nothing here: the customer has to authenticate/],
  ["canceled", /^nothing: it was canceled at Stripe, and a new try is a new message/],
] as const)("what comes next after %s", (result, next) => {
  const text = explained({ outcome: { result, paymentIntentId: "pi_1" } });

  expect(text).toMatchObject({ state: "completed", PaymentIntent: "see pi_1" });
  expect(text["next"]).toMatch(next);
});

test("a decline whose two codes are the same shows the code once", () => {
  const declined = { result: "declined", code: "card_declined", declineCode: "lost_card" } as const;

  expect(describeOutcome(declined)).toBe("declined (card_declined, lost_card)");
  expect(
    describeOutcome({
      result: "declined",
      code: "authentication_required",
      declineCode: "authentication_required",
    }),
  ).toBe("declined (authentication_required)");
});
