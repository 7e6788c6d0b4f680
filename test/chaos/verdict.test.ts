import { expect, test } from "vitest";

import { isKept, judge } from "../../chaos/demo/verdict.ts";
import type { Evidence } from "../../chaos/demo/verdict.ts";

const BODY = '{"id":"a","amount":500}';

/** One message that was charged once and recorded, but for what a test changes. */
function evidence(changes: Partial<Evidence> = {}): Evidence {
  return {
    sent: [{ id: "a", body: BODY, amount: 500 }],
    deliveries: new Map([["a", 1]]),
    stripeRequests: new Map([["a", 1]]),
    intents: [{ messageId: "a", id: "pi_1", amount: 500, status: "succeeded" }],
    records: [
      {
        messageId: "a",
        status: "COMPLETED",
        outcome: { result: "succeeded", paymentIntentId: "pi_1" },
      },
    ],
    deadLetters: [],
    waiting: [],
    ...changes,
  };
}

test("one charge, recorded as Stripe has it, keeps the promise", () => {
  const verdict = judge(evidence());

  expect(verdict).toEqual({
    rows: [{ id: "a", deliveries: 1, stripeRequests: 1, charges: 1, ending: "succeeded" }],
    messages: 1,
    deliveries: 1,
    charges: 1,
    doubleCharges: 0,
    lost: 0,
    unfinished: 0,
  });
  expect(isKept(verdict)).toBe(true);
});

test("a second charge under one message id is a double charge", () => {
  const verdict = judge(
    evidence({
      intents: [
        { messageId: "a", id: "pi_1", amount: 500, status: "succeeded" },
        { messageId: "a", id: "pi_2", amount: 500, status: "processing" },
      ],
    }),
  );

  expect(verdict).toMatchObject({ charges: 2, doubleCharges: 1 });
  expect(isKept(verdict)).toBe(false);
});

test("a declined attempt beside a charge is not a second charge", () => {
  const verdict = judge(
    evidence({
      intents: [
        { messageId: "a", id: "pi_0", amount: 500, status: "requires_payment_method" },
        { messageId: "a", id: "pi_1", amount: 500, status: "succeeded" },
      ],
    }),
  );

  expect(verdict).toMatchObject({ charges: 1, doubleCharges: 0 });
});

test("a charge for nobody's message is counted", () => {
  const verdict = judge(
    evidence({
      intents: [
        { messageId: "a", id: "pi_1", amount: 500, status: "succeeded" },
        { messageId: undefined, id: "pi_9", amount: 500, status: "succeeded" },
      ],
    }),
  );

  expect(verdict.charges).toBe(2);
  expect(isKept(verdict)).toBe(false);
});

test.each<[string, Partial<Evidence>]>([
  ["no record at all", { records: [] }],
  ["a claim that nobody completed", { records: [{ messageId: "a", status: "IN_PROGRESS" }] }],
  ["an outcome that Stripe knows nothing of", { intents: [] }],
  [
    "an outcome of another payment's charge",
    { intents: [{ messageId: "b", id: "pi_1", amount: 500, status: "succeeded" }] },
  ],
  [
    "a charge of another amount",
    { intents: [{ messageId: "a", id: "pi_1", amount: 700, status: "succeeded" }] },
  ],
  [
    "an outcome that is not Stripe's",
    { intents: [{ messageId: "a", id: "pi_1", amount: 500, status: "processing" }] },
  ],
])("a message that left the queues with %s is lost", (_, changes) => {
  const verdict = judge(evidence(changes));

  expect(verdict).toMatchObject({ lost: 1, rows: [{ ending: "LOST" }] });
  expect(isKept(verdict)).toBe(false);
});

test("a message without an outcome in the dead-letter queue is not lost", () => {
  const verdict = judge(evidence({ intents: [], records: [], deadLetters: [BODY] }));

  expect(verdict).toMatchObject({ lost: 0, rows: [{ charges: 0, ending: "dead-letter queue" }] });
  expect(isKept(verdict)).toBe(true);
});

test("a message that is still in the queue is not at its end", () => {
  const verdict = judge(evidence({ intents: [], records: [], waiting: [BODY] }));

  expect(verdict).toMatchObject({ lost: 0, unfinished: 1 });
  expect(isKept(verdict)).toBe(false);
});

test("a decline that Stripe confirms is an outcome without a charge", () => {
  const verdict = judge(
    evidence({
      intents: [{ messageId: "a", id: "pi_1", amount: 500, status: "requires_payment_method" }],
      records: [
        {
          messageId: "a",
          status: "COMPLETED",
          outcome: {
            result: "declined",
            paymentIntentId: "pi_1",
            code: "card_declined",
            declineCode: "insufficient_funds",
          },
        },
      ],
    }),
  );

  expect(verdict).toMatchObject({
    charges: 0,
    lost: 0,
    rows: [{ ending: "declined (insufficient_funds)" }],
  });
});

test("of one id with two amounts, the one that was not charged has to be in the dead-letter queue", () => {
  const other = '{"id":"a","amount":700}';
  const sent = [...evidence().sent, { id: "a", body: other, amount: 700 }];

  const kept = judge(evidence({ sent, deadLetters: [other] }));
  const broken = judge(evidence({ sent }));
  const sentFirst = judge(evidence({ sent: sent.toReversed(), deadLetters: [other] }));

  expect(kept).toMatchObject({
    messages: 1,
    lost: 0,
    rows: [{ ending: "succeeded, and dead-letter queue" }],
  });
  // The outcome first, whichever was sent first.
  expect(sentFirst.rows).toMatchObject([{ ending: "succeeded, and dead-letter queue" }]);
  expect(broken.lost).toBe(1);
});
