// The verdict must see every way in which what follows from a payment can go wrong.
import { expect, test } from "vitest";

import type { Around } from "../../chaos/harness/verdict-around.ts";
import { isKept, reachVerdict } from "../../chaos/harness/verdict.ts";
import type { Evidence } from "../../chaos/harness/verdict.ts";

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

const INTENT: Evidence["intents"][number] = {
  id: "pi_1",
  amount: 1200,
  status: "succeeded",
  metadata: { message_id: "order-1" },
};

/** An order that was paid by a bank debit and shipped, but for what a test changes. */
function verdictOf(changes: Partial<Around>, intent: Partial<typeof INTENT> = {}) {
  return reachVerdict({
    sent: [{ id: "order-1", body: "one", amount: 1200 }],
    charges: [{ messageId: "order-1", amount: 1200 }],
    intents: [{ ...INTENT, ...intent }],
    records: [
      {
        messageId: "order-1",
        status: "COMPLETED",
        outcome: { result: "succeeded", paymentIntentId: "pi_1" },
      },
    ],
    deadLetters: [],
    waiting: [],
    around: { ...RIGHT, ...changes },
  });
}

test("an order that is paid, published and shipped keeps the guarantee, whatever is published again", () => {
  const verdict = verdictOf({});
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
  const verdict = verdictOf(changes);
  expect(verdict.wrong).toContain(sentence);
  expect(isKept(verdict, true)).toBe(false);
});

test("goods that leave without a charge violate the guarantee", () => {
  expect(verdictOf({}, { status: "processing" }).wrong).toContain("order-1: shipped, not charged");
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
    const verdict = verdictOf(changes);
    expect(verdict).toMatchObject({ wrong: [], missing: [sentence] });
    expect(isKept(verdict, true)).toBe(true);
    expect(isKept(verdict)).toBe(false);
  },
);
