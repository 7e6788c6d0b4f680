// An effect of your own, for each outcome of a payment: the order, its stock, its shipment and its
// ledger lines change in ONE transaction with the record of the event. No claim, no lease, no second
// write: either all of it happened, or none of it did.
//
//   succeeded                  paid, and shipped; or paid and backordered when the stock is short
//   declined, failed, canceled unpaid: nothing leaves, nothing is booked
//   processing and the like    only the event is recorded: goods leave when money is certain

import type { PaymentOutcome } from "./payment-outcome.ts";

/** An order, as the shop wrote it. */
export type Order = {
  messageId: string;
  orderId: string;
  status: "pending" | "unpaid" | "paid";
  amount: number;
  currency: string;
  sku: string;
  quantity: number;
  paymentIntentId?: string;
};

/** What one transaction does, beside recording the event. */
export type Effect = "shipped" | "backordered" | "unpaid" | "noted";

/** How an event ended. `conflict`, `unknown_order` and `bug` go to the dead-letter queue. */
export type Fulfilled =
  | { decision: "applied"; effect: Effect }
  | { decision: "duplicate" }
  /** An older event of an order that has gone on: it changes nothing any more. */
  | { decision: "superseded" }
  /** The event contradicts the order, or another event of the same id. */
  | { decision: "conflict"; reason: string }
  | { decision: "unknown_order" }
  | { decision: "transient"; code: string }
  | { decision: "bug"; code: string };

/** Why a transaction was canceled: a reason per item, in the order of the items. */
export type Canceled = readonly { code: string; item?: Readonly<Record<string, unknown>> }[];

/** The orders table. */
export interface Orders {
  /** Read only to know what to write: the transaction's own conditions decide. */
  find(messageId: string): Promise<Order | undefined>;
  /** Applies the effect with the record of the event; undefined when it is done. */
  apply(effect: Effect, outcome: PaymentOutcome, order: Order): Promise<Canceled | undefined>;
}

const UNPAID: ReadonlySet<string> = new Set(["declined", "failed", "canceled"]);

/** Applies an outcome event to its order, once. */
export async function fulfill(outcome: PaymentOutcome, orders: Orders): Promise<Fulfilled> {
  const order = await orders.find(outcome.messageId);
  if (!order) return { decision: "unknown_order" };
  if (!(Number.isSafeInteger(order.quantity) && order.quantity > 0)) {
    return { decision: "conflict", reason: "the order's quantity is not a positive integer" };
  }
  const effect = effectOf(outcome);
  if (effect === "shipped" && (outcome.amount === undefined || outcome.currency === undefined)) {
    return { decision: "conflict", reason: "the event does not say what was paid" };
  }
  const canceled = await orders.apply(effect, outcome, order);
  if (!canceled) return { decision: "applied", effect };
  if (effect !== "shipped" || !onlyStockIsShort(canceled)) return explain(canceled, outcome);

  // A smaller transaction: the customer has paid, and waits for goods.
  const second = await orders.apply("backordered", outcome, order);
  return second ? explain(second, outcome) : { decision: "applied", effect: "backordered" };
}

function effectOf({ result }: PaymentOutcome): Effect {
  if (result === "succeeded") return "shipped";
  return UNPAID.has(result) ? "unpaid" : "noted";
}

const FAILED = "ConditionalCheckFailed";

// Behind the event and the order, when goods leave.
const STOCK = 2;

function onlyStockIsShort(canceled: Canceled): boolean {
  return canceled.every(({ code }, index) => code === (index === STOCK ? FAILED : "None"));
}

/**
 * What the reasons mean. The event's own comes first: a transaction that lost against its twin finds
 * the order, the stock and the shipment changed too.
 * https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_CancellationReason.html
 */
function explain(canceled: Canceled, outcome: PaymentOutcome): Fulfilled {
  const codes = canceled.map(({ code }) => code);
  const [event, order] = canceled;
  if (event?.code === FAILED) {
    if (!event.item) return { decision: "transient", code: "NoItem" };
    return event.item["hash"] === outcome.hash
      ? { decision: "duplicate" }
      : { decision: "conflict", reason: "another event with this id says something else" };
  }
  // Others are at work on one of the items: nothing was decided, and nothing was done.
  const passing = codes.find((code) => TRANSIENT.has(code));
  if (passing) return { decision: "transient", code: passing };
  if (order?.code === FAILED) return explainOrder(order.item, outcome);
  return { decision: "bug", code: codes.find((code) => code !== "None") ?? "None" };
}

const TRANSIENT: ReadonlySet<string> = new Set([
  "TransactionConflict",
  "ThrottlingError",
  "ProvisionedThroughputExceeded",
]);

function explainOrder(item: Canceled[number]["item"], outcome: PaymentOutcome): Fulfilled {
  if (!item) return { decision: "transient", code: "NoItem" };
  if (item["status"] === "paid") {
    if (outcome.result !== "succeeded") return { decision: "superseded" };
    return item["paymentIntentId"] === outcome.paymentIntentId
      ? { decision: "duplicate" } // the same payment, under another source or revision
      : { decision: "conflict", reason: "the order is paid by another PaymentIntent" };
  }
  if (item["amount"] === outcome.amount && item["currency"] === outcome.currency) {
    return { decision: "transient", code: "OrderChanged" }; // since it was read
  }
  return {
    decision: "conflict",
    reason: `the order is over ${String(item["amount"])} ${String(item["currency"])}, the payment over ${outcome.amount} ${outcome.currency}`,
  };
}
