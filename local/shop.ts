// A shop whose orders are paid: it hears of outcome events, has placed an order for every payment, and
// has goods to ship.
import { ORDERS_TABLE, OUTCOME_BUS } from "./servers.ts";
import type { Servers } from "./servers.ts";
import { plainItem } from "./table/attribute-value.ts";

export const SKU = "tea";
export const STOCK = 1_000_000;

/** Sends outcome events to the queue of order fulfillment, and places an order for each new record. */
export async function openShop({ table, tableName, queue, bus }: Servers): Promise<void> {
  const { queueUrl: undelivered } = await queue.createQueues({
    name: "undelivered",
    visibilityTimeoutSeconds: 30,
    maxReceiveCount: 5,
  });
  table.put(ORDERS_TABLE, { pk: `sku#${SKU}`, sku: SKU, onHand: STOCK });
  table.changes(tableName).subscribe(({ eventName, dynamodb: { NewImage } }) => {
    if (eventName !== "INSERT" || !NewImage) return;
    const { messageId, amount, currency } = plainItem(NewImage);
    table.put(ORDERS_TABLE, {
      pk: `order#${String(messageId)}`,
      messageId,
      orderId: messageId,
      status: "pending",
      amount,
      currency,
      sku: SKU,
      quantity: 1,
    });
  });
  bus.bus.addQueue(
    "orders",
    OUTCOME_BUS,
    { "detail-type": [{ prefix: "payment." }], detail: { revision: [{ exists: true }] } },
    { queueUrl: `${queue.url}/000000000000/orders`, deadLetterQueueUrl: undelivered },
  );
}
