import { expect, test } from "vitest";

import { fulfill } from "../../../lib/orders/fulfill.ts";
import type { Canceled, Effect, Order } from "../../../lib/orders/fulfill.ts";
import type { PaymentOutcome } from "../../../lib/orders/payment-outcome.ts";
import { ORDER, PAID } from "../../support/orders.ts";

const CHECK = { code: "ConditionalCheckFailed" };
const NONE = { code: "None" };

/** Fulfills with a table whose transactions end like this, one after another. */
async function run(
  outcome: PaymentOutcome,
  answers: readonly (Canceled | undefined)[] = [],
  order: Order | undefined = ORDER,
) {
  const applied: Effect[] = [];
  const left = [...answers];
  const result = await fulfill(outcome, {
    find: async () => order,
    apply: async (effect) => {
      applied.push(effect);
      return left.shift();
    },
  });
  return { result, applied };
}

test.each<[string, Effect]>([
  ["succeeded", "shipped"],
  ["declined", "unpaid"],
  ["failed", "unpaid"],
  ["canceled", "unpaid"],
  ["processing", "noted"],
  ["requires_action", "noted"],
  ["refunded", "noted"],
  ["something new", "noted"],
])("%s leaves an order %s", async (result, effect) => {
  expect(await run({ ...PAID, result })).toEqual({
    result: { decision: "applied", effect },
    applied: [effect],
  });
});

const paidBy = (paymentIntentId: string) => ({
  ...CHECK,
  item: { status: "paid", paymentIntentId },
});
const seen = (hash: string) => ({ ...CHECK, item: { hash } });

const pending = (changes: object) => ({
  ...CHECK,
  item: { status: "pending", amount: 1250, currency: "eur", ...changes },
});
const AT_WORK = { code: "TransactionConflict" };
const transient = (code: string) => ({ decision: "transient", code });
const conflict = (reason: string) => ({ decision: "conflict", reason });
const DUPLICATE = { decision: "duplicate" };

test.each<[string, Canceled, object]>([
  ["the same event again", [seen("h1"), NONE], DUPLICATE],
  [
    "the same event again, which also finds its own order, stock and shipment",
    [seen("h1"), paidBy("pi_1"), CHECK, CHECK, CHECK, CHECK],
    DUPLICATE,
  ],
  [
    "another event with this id",
    [seen("h2"), NONE],
    conflict("another event with this id says something else"),
  ],
  ["a record that vanished", [CHECK, NONE], transient("NoItem")],
  ["another transaction at work on the order", [NONE, AT_WORK], transient("TransactionConflict")],
  [
    "another transaction at work while the stock is short",
    [NONE, NONE, CHECK, AT_WORK],
    transient("TransactionConflict"),
  ],
  ...["ThrottlingError", "ProvisionedThroughputExceeded"].map(
    (code): [string, Canceled, object] => [code, [NONE, { code }], transient(code)],
  ),
  ["an order that is paid by this payment", [NONE, paidBy("pi_1")], DUPLICATE],
  [
    "an order that is paid by another payment",
    [NONE, paidBy("pi_2")],
    conflict("the order is paid by another PaymentIntent"),
  ],
  [
    "an order over another amount",
    [NONE, pending({ amount: 1200 })],
    conflict("the order is over 1200 eur, the payment over 1250 eur"),
  ],
  [
    "an order in another currency",
    [NONE, pending({ currency: "usd" })],
    conflict("the order is over 1250 usd, the payment over 1250 eur"),
  ],
  [
    "an order that changed since it was read",
    [NONE, pending({ quantity: 3 })],
    transient("OrderChanged"),
  ],
  ["an order that vanished", [NONE, CHECK], transient("NoItem")],
  [
    "a shipment without the record of its event",
    [NONE, NONE, NONE, CHECK, NONE, NONE],
    { decision: "bug", code: "ConditionalCheckFailed" },
  ],
  [
    "an item that is too large",
    [{ code: "ValidationError" }],
    { decision: "bug", code: "ValidationError" },
  ],
])("%s: what the reasons say", async (_, canceled, expected) => {
  expect((await run(PAID, [canceled])).result).toEqual(expected);
});

test("stock that is short for a backorder too is never taken for a duplicate", async () => {
  const short = [NONE, NONE, CHECK, NONE, NONE, NONE];
  expect((await run(PAID, [short, [seen("h1"), NONE]])).result).toEqual(DUPLICATE);
  expect((await run(PAID, [short, [NONE, AT_WORK]])).result).toEqual(
    transient("TransactionConflict"),
  );
});

test.each([{ amount: undefined }, { currency: undefined }])(
  "an event with %j ships nothing, and can still say that nothing was paid",
  async (unpriced) => {
    const outcome = { ...PAID, ...unpriced } as unknown as PaymentOutcome;
    expect(await run(outcome)).toEqual({
      result: { decision: "conflict", reason: "the event does not say what was paid" },
      applied: [],
    });
    expect((await run({ ...outcome, result: "failed" })).applied).toEqual(["unpaid"]);
  },
);

test.each([-2, 0, 1.5])("an order of %d is a conflict, and touches nothing", async (quantity) => {
  expect(await run(PAID, [], { ...ORDER, quantity })).toEqual({
    result: { decision: "conflict", reason: "the order's quantity is not a positive integer" },
    applied: [],
  });
});

test("nothing is paid for an event that says it was not, whatever the reasons are", async () => {
  expect(await run({ ...PAID, result: "failed" }, [[NONE, NONE]])).toEqual({
    result: { decision: "bug", code: "None" },
    applied: ["unpaid"],
  });
});
