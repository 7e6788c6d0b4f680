// The verdict must see every way to violate the guarantee, and in which what follows from a payment can
// go wrong.
import { expect, test } from "vitest";

import type { Around } from "../../chaos/harness/verdict-around.ts";
import { isKept, reachVerdict } from "../../chaos/harness/verdict.ts";
import type { Evidence } from "../../chaos/harness/verdict.ts";

const SENT = { id: "order-1", body: "one", amount: 1200 };
const CHARGE = { messageId: "order-1", amount: 1200 };
const INTENT: Evidence["intents"][number] = {
  id: "pi_1",
  amount: 1200,
  status: "succeeded",
  metadata: { message_id: "order-1" },
};
const RECORD = {
  messageId: "order-1",
  status: "COMPLETED",
  outcome: { result: "succeeded", paymentIntentId: "pi_1" },
};

/** One payment that was charged once and recorded, but for what a test changes. */
function evidence(changes: Partial<Evidence> = {}): Evidence {
  return {
    sent: [SENT],
    charges: [CHARGE],
    intents: [INTENT],
    records: [RECORD],
    deadLetters: [],
    waiting: [],
    ...changes,
  };
}

test("one charge, recorded as Stripe has it, keeps the guarantee", () => {
  const verdict = reachVerdict(evidence());

  expect(verdict).toEqual({
    rows: [{ id: "order-1", charges: 1, ends: ["succeeded"] }],
    charges: 1,
    doubled: 0,
    lost: [],
    open: [],
    outcomes: 0,
    events: 0,
    shipped: 0,
    wrong: [],
    missing: [],
  });
  expect(isKept(verdict)).toBe(true);
});

test("a repeated body counts as one message", () => {
  expect(reachVerdict(evidence({ sent: [SENT, SENT] })).rows).toEqual([
    { id: "order-1", charges: 1, ends: ["succeeded"] },
  ]);
});

test.each<[string, Evidence["charges"]]>([
  ["a second charge", [CHARGE, CHARGE]],
  ["a charge of another amount", [{ messageId: "order-1", amount: 1201 }]],
  ["a charge without a message id", [CHARGE, { messageId: undefined, amount: 5 }]],
  ["a charge for an unknown message", [CHARGE, { messageId: "order-2", amount: 5 }]],
])("%s is a double charge, in an interrupted run too", (_, charges) => {
  const verdict = reachVerdict(evidence({ charges }));

  expect(verdict).toMatchObject({ charges: charges.length, doubled: 1 });
  expect(isKept(verdict, true)).toBe(false);
});

test.each<[string, Partial<Evidence>, string]>([
  ["has no record", { records: [] }, "LOST"],
  ["is only claimed", { records: [{ messageId: "order-1", status: "IN_PROGRESS" }] }, "LOST"],
  ["has an outcome with a PaymentIntent that Stripe does not know", { intents: [] }, "LOST"],
  [
    "is recorded as succeeded and still processing",
    { intents: [{ ...INTENT, status: "processing" }] },
    "LOST",
  ],
  [
    "is recorded with another payment's PaymentIntent",
    { intents: [{ ...INTENT, metadata: { message_id: "order-2" } }] },
    "LOST",
  ],
  ["was charged another amount", { intents: [{ ...INTENT, amount: 1201 }] }, "LOST"],
  [
    "is in the dead-letter queue without a reason",
    { records: [], deadLetters: [{ body: "one", reason: undefined }] },
    "dead-letter queue without a reason: LOST",
  ],
])("a message that %s is lost", (_, changes, end) => {
  const verdict = reachVerdict(evidence(changes));

  expect(verdict).toMatchObject({ lost: ["order-1"], rows: [{ ends: [end] }] });
  expect(isKept(verdict, true)).toBe(false);
});

test.each<[object, Evidence["intents"][number]["status"], string]>([
  [{ result: "processing" }, "processing", "processing"],
  [{ result: "requires_action" }, "requires_action", "requires_action"],
  [{ result: "failed" }, "requires_payment_method", "failed"],
  [{ result: "canceled" }, "canceled", "canceled"],
  [
    { result: "declined", code: "card_declined", declineCode: "insufficient_funds" },
    "requires_payment_method",
    "declined (insufficient_funds)",
  ],
  [
    { result: "declined", code: "expired_card" },
    "requires_payment_method",
    "declined (expired_card)",
  ],
])("an outcome %j is confirmed by a PaymentIntent that is %s", (recorded, status, end) => {
  const outcome = { ...RECORD.outcome, ...recorded };

  const verdict = reachVerdict(
    evidence({ charges: [], intents: [{ ...INTENT, status }], records: [{ ...RECORD, outcome }] }),
  );

  expect(verdict).toMatchObject({ lost: [], rows: [{ charges: 0, ends: [end] }] });
});

test("a bank debit that Stripe has moved on is open until the record follows, and not lost", () => {
  const outcome = { ...RECORD.outcome, result: "processing" };

  const verdict = reachVerdict(evidence({ records: [{ ...RECORD, outcome }] }));

  expect(verdict).toMatchObject({ lost: [], open: ["order-1"] });
  expect(isKept(verdict)).toBe(false);
});

test("a message in the dead-letter queue with a reason is at its end", () => {
  const deadLetters = [{ body: "one", reason: "conflict" }];

  const verdict = reachVerdict(evidence({ records: [], charges: [], intents: [], deadLetters }));

  expect(verdict.rows).toEqual([
    { id: "order-1", charges: 0, ends: ["dead-letter queue (conflict)"] },
  ]);
  expect(isKept(verdict)).toBe(true);
});

test("of two amounts under one id, the one that was not charged has to be in the dead-letter queue", () => {
  const sent = [{ ...SENT, body: "other", amount: 700 }, SENT];
  const deadLetters = [{ body: "other", reason: "conflict" }];

  // The outcome first, whichever was sent first.
  expect(reachVerdict(evidence({ sent, deadLetters }))).toMatchObject({
    lost: [],
    rows: [{ ends: ["succeeded", "dead-letter queue (conflict)"] }],
  });
  expect(reachVerdict(evidence({ sent })).lost).toEqual(["order-1"]);
});

test("a message that is still in the queue is open and not lost, and only an interrupted run may have one", () => {
  const verdict = reachVerdict(evidence({ records: [], waiting: ["one"] }));

  expect(verdict).toMatchObject({ lost: [], open: ["order-1"] });
  expect(isKept(verdict, true)).toBe(true);
  expect(isKept(verdict)).toBe(false);
});

const ORDERS = [
  { pk: "sku#tea", sku: "tea", onHand: 9 },
  { pk: "order#order-1", messageId: "order-1", status: "paid" },
  { pk: "shipment#order-1", messageId: "order-1", quantity: 1 },
  { pk: "ledger#order-1#2#debit", messageId: "order-1", side: "debit", amount: 1200 },
  { pk: "ledger#order-1#2#credit", messageId: "order-1", side: "credit", amount: 1200 },
];

const RIGHT: Around = {
  recorded: [
    { messageId: "order-1", revision: 1, result: "processing" },
    { messageId: "order-1", revision: 2, result: "succeeded" },
  ],
  published: [
    { id: "order-1:1", result: "processing", content: "one" },
    { id: "order-1:2", result: "succeeded", content: "two" },
    { id: "order-1:2", result: "succeeded", content: "two" },
  ],
  orders: ORDERS,
  stock: 10,
  accepted: ["order-1"],
};

/** An order that was paid by a bank debit and shipped, but for what a test changes. */
const around = (changes: Partial<Around>, intent: Partial<typeof INTENT> = {}) =>
  reachVerdict(evidence({ intents: [{ ...INTENT, ...intent }], around: { ...RIGHT, ...changes } }));

test("an order that is paid, published and shipped keeps the guarantee, whatever is published again", () => {
  const verdict = around({});
  expect(verdict).toMatchObject({ outcomes: 2, events: 3, shipped: 1, wrong: [], missing: [] });
  expect(isKept(verdict)).toBe(true);
});

const [processing, succeeded] = RIGHT.recorded as [
  Around["recorded"][number],
  Around["recorded"][number],
];
const without = (pk: string) => ORDERS.filter((item) => item.pk !== pk);

test.each<[string, Partial<Around>, string]>([
  [
    "an outcome that goes back",
    {
      recorded: [
        { ...succeeded, revision: 1 },
        { ...processing, revision: 2 },
      ],
    },
    "order-1: succeeded became processing (2)",
  ],
  [
    "an outcome that is recorded twice",
    { recorded: [processing, succeeded, { ...succeeded, revision: 3 }] },
    "order-1: succeeded became succeeded (3)",
  ],
  [
    "a revision that is left out",
    { recorded: [processing, { ...succeeded, revision: 3 }] },
    "order-1: processing became succeeded (3)",
  ],
  [
    "an event of two contents",
    { published: [...RIGHT.published, { id: "order-1:1", result: "processing", content: "x" }] },
    "order-1:1: two contents",
  ],
  [
    "an event of what is not recorded",
    { published: [...RIGHT.published, { id: "order-1:3", result: "canceled", content: "three" }] },
    "order-1:3: not recorded so",
  ],
  [
    "a shipment whose debit is not booked",
    { orders: without("ledger#order-1#2#debit") },
    "debits and credits differ",
  ],
  [
    "books of another amount",
    { orders: ORDERS.map((item) => ("side" in item ? { ...item, amount: 1201 } : item)) },
    "order-1: booked what was not charged",
  ],
  [
    "goods that left without a shipment",
    { orders: ORDERS.map((item) => ("onHand" in item ? { ...item, onHand: 8 } : item)) },
    "stock and shipped goods differ from what there was",
  ],
])("%s violates the guarantee, in an interrupted run too", (_, changes, sentence) => {
  const verdict = around(changes);
  expect(verdict.wrong).toContain(sentence);
  expect(isKept(verdict, true)).toBe(false);
});

test("goods that leave without a charge violate the guarantee", () => {
  expect(around({}, { status: "processing" }).wrong).toContain("order-1: shipped, not charged");
});

test.each<[string, Partial<Around>, string]>([
  [
    "an outcome that is not published",
    { published: RIGHT.published.slice(1) },
    "order-1:1: never published",
  ],
  [
    "goods that have not left",
    {
      orders: [{ pk: "sku#tea", sku: "tea", onHand: 10 }],
    },
    "order-1: never shipped",
  ],
  [
    "an acceptance after which nothing was sent",
    { accepted: ["order-1", "order-2"] },
    "order-2: accepted, never sent",
  ],
])(
  "%s may come later in an interrupted run, and must have come in any other",
  (_, changes, sentence) => {
    const verdict = around(changes);
    expect(verdict).toMatchObject({ wrong: [], missing: [sentence] });
    expect(isKept(verdict, true)).toBe(true);
    expect(isKept(verdict)).toBe(false);
  },
);
