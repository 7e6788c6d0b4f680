// The soak's judge must see every way to break the promise.
import { expect, test } from "vitest";

import { isKept } from "../../chaos/soak/print.ts";
import { judge } from "../../chaos/soak/verdict.ts";
import type { Evidence } from "../../chaos/soak/verdict.ts";

const SENT = { id: "order-1", body: "one", amount: 1200 };
const INTENT = {
  id: "pi_1",
  amount: 1200,
  status: "succeeded" as const,
  metadata: { message_id: "order-1" },
};
const RECORD = {
  messageId: "order-1",
  status: "COMPLETED",
  outcome: { result: "succeeded", paymentIntentId: "pi_1" },
};

/** One payment that went well, but for what a test changes. */
function evidence(changes: Partial<Evidence> = {}): Evidence {
  return {
    sent: [SENT],
    charges: [{ messageId: "order-1", amount: 1200 }],
    intents: [INTENT],
    records: [RECORD],
    deadLetters: [],
    waiting: [],
    ...changes,
  };
}

test("a payment that was charged once and recorded is at its end", () => {
  const verdict = judge(evidence());

  expect(verdict).toEqual({
    messages: 1,
    charges: 1,
    doubled: 0,
    lost: [],
    unfinished: 0,
    endings: new Map([["succeeded", 1]]),
  });
  expect(isKept(verdict, false)).toBe(true);
});

test("a repeated body counts as one message", () => {
  expect(judge(evidence({ sent: [SENT, SENT] }))).toMatchObject({
    messages: 1,
    endings: new Map([["succeeded", 1]]),
  });
});

test.each<[string, Evidence["charges"]]>([
  ["a second charge", [evidence().charges[0]!, { messageId: "order-1", amount: 1200 }]],
  ["a charge of another amount", [{ messageId: "order-1", amount: 1201 }]],
  ["a charge without a message id", [...evidence().charges, { messageId: undefined, amount: 5 }]],
  ["a charge for an unknown message", [...evidence().charges, { messageId: "order-2", amount: 5 }]],
])("%s is a doubled charge", (_, charges) => {
  const verdict = judge(evidence({ charges }));

  expect(verdict.doubled).toBe(1);
  expect(isKept(verdict, true)).toBe(false);
});

test.each<[string, Partial<Evidence>]>([
  ["has no record", { records: [] }],
  ["is only claimed", { records: [{ messageId: "order-1", status: "IN_PROGRESS" }] }],
  ["has an outcome with a PaymentIntent that Stripe does not know", { intents: [] }],
  [
    "is recorded as succeeded and still processing",
    { intents: [{ ...INTENT, status: "processing" }] },
  ],
  [
    "is recorded with another payment's PaymentIntent",
    { intents: [{ ...INTENT, metadata: { message_id: "order-2" } }] },
  ],
  ["was charged another amount", { intents: [{ ...INTENT, amount: 1201 }] }],
  [
    "is in the dead-letter queue without a reason",
    { records: [], deadLetters: [{ body: "one", reason: undefined }] },
  ],
])("a message that %s is lost", (_, changes) => {
  const verdict = judge(evidence(changes));

  expect(verdict.lost).toEqual(["order-1"]);
  expect(isKept(verdict, true)).toBe(false);
});

test.each<[string, Evidence["intents"][number]["status"]]>([
  ["processing", "processing"],
  ["requires_action", "requires_action"],
  ["declined", "requires_payment_method"],
])("an outcome %s is confirmed by a PaymentIntent that is %s", (result, status) => {
  const outcome = { result, paymentIntentId: "pi_1" };

  const verdict = judge(
    evidence({
      charges: [],
      intents: [{ ...INTENT, status: status }],
      records: [{ ...RECORD, outcome }],
    }),
  );

  expect(verdict.lost).toEqual([]);
  expect(verdict.endings).toEqual(new Map([[result, 1]]));
});

test("a message in the dead-letter queue with a reason is at its end", () => {
  const deadLetters = [{ body: "one", reason: "conflict" }];

  const verdict = judge(evidence({ records: [], charges: [], intents: [], deadLetters }));

  expect(verdict.endings).toEqual(new Map([["dead-letter queue: conflict", 1]]));
  expect(isKept(verdict, false)).toBe(true);
});

test("of two amounts under one id, the one that was not charged has to be in the dead-letter queue", () => {
  const other = { ...SENT, body: "other", amount: 700 };

  expect(judge(evidence({ sent: [SENT, other] })).lost).toEqual(["order-1"]);
});

test("a message that is still in the queue is lost to nobody, and only an interrupted soak may have one", () => {
  const verdict = judge(evidence({ records: [], waiting: ["one"] }));

  expect(verdict).toMatchObject({ lost: [], unfinished: 1 });
  expect(isKept(verdict, true)).toBe(true);
  expect(isKept(verdict, false)).toBe(false);
});
