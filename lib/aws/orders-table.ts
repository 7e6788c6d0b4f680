// The orders table: one transaction per event. Copy it for an effect of your own: the record of the
// event and everything that it brings about, each with its condition, and nothing outside.

import { TransactionCanceledException } from "@aws-sdk/client-dynamodb";
import { GetCommand, TransactWriteCommand } from "@aws-sdk/lib-dynamodb";
import type { DynamoDBDocumentClient, TransactWriteCommandInput } from "@aws-sdk/lib-dynamodb";
import { unmarshall } from "@aws-sdk/util-dynamodb";

import { withTimeLimit } from "../net/time-limit.ts";
import type { Effect, Order, Orders } from "../orders/fulfill.ts";
import type { PaymentOutcome } from "../orders/payment-outcome.ts";

type Items = NonNullable<TransactWriteCommandInput["TransactItems"]>;
type Item = Items[number];

const ALL_OLD = { ReturnValuesOnConditionCheckFailure: "ALL_OLD" } as const;

/**
 * `clientRequestToken` is left to the SDK, which keeps it over its own retries; the record of the
 * event covers everything else.
 * https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_TransactWriteItems.html
 *
 * @param eventTtlMs how long an event is remembered
 * @param now epoch ms
 */
export function ordersTable(
  client: DynamoDBDocumentClient,
  tableName: string,
  { eventTtlMs, timeoutMs, now }: { eventTtlMs: number; timeoutMs: number; now: () => number },
): Orders {
  const table = { TableName: tableName };

  /** Puts an item that must not be there yet. */
  const putNew = (item: Record<string, unknown>): Item => ({
    Put: { ...table, Item: item, ConditionExpression: "attribute_not_exists(pk)", ...ALL_OLD },
  });

  const record = ({ source, id, hash }: PaymentOutcome): Item =>
    putNew({
      // A source is a URI, and may hold a #; an id is the rest.
      pk: `event#${encodeURIComponent(source)}#${id}`,
      hash,
      expiresAt: Math.ceil((now() + eventTtlMs) / 1_000), // seconds: DynamoDB's TTL
    });

  const pay = (
    outcome: PaymentOutcome,
    order: Order,
    fulfillment: "shipped" | "backordered",
  ): Item => ({
    Update: {
      ...table,
      Key: { pk: `order#${outcome.messageId}` },
      UpdateExpression:
        "SET #status = :paid, paymentIntentId = :intent, fulfillment = :fulfillment",
      ConditionExpression:
        "#status IN (:pending, :unpaid) AND amount = :amount AND currency = :currency AND sku = :sku AND quantity = :quantity",
      ExpressionAttributeNames: { "#status": "status" },
      ExpressionAttributeValues: {
        ":paid": "paid",
        ":pending": "pending",
        ":unpaid": "unpaid",
        ":intent": outcome.paymentIntentId ?? "unknown",
        ":fulfillment": fulfillment,
        ":amount": outcome.amount,
        ":currency": outcome.currency,
        ":sku": order.sku, // as it was read
        ":quantity": order.quantity,
      },
      ...ALL_OLD,
    },
  });

  const markUnpaid = ({ messageId }: PaymentOutcome): Item => ({
    Update: {
      ...table,
      Key: { pk: `order#${messageId}` },
      UpdateExpression: "SET #status = :unpaid",
      ConditionExpression: "#status IN (:pending, :unpaid)",
      ExpressionAttributeNames: { "#status": "status" },
      ExpressionAttributeValues: { ":unpaid": "unpaid", ":pending": "pending" },
      ...ALL_OLD,
    },
  });

  const takeStock = ({ sku, quantity }: Order): Item => ({
    Update: {
      ...table,
      Key: { pk: `sku#${sku}` },
      UpdateExpression: "SET onHand = onHand - :quantity",
      ConditionExpression: "onHand >= :quantity",
      ExpressionAttributeValues: { ":quantity": quantity },
    },
  });

  const ship = ({ messageId, orderId, sku, quantity }: Order): Item =>
    putNew({ pk: `shipment#${messageId}`, messageId, orderId, sku, quantity });

  /** Two lines that are never changed: their sum is zero. A balance would be a hot item. */
  const book = ({ messageId, revision, amount, currency }: PaymentOutcome): Items =>
    [
      { side: "debit", account: "stripe:clearing" },
      { side: "credit", account: "sales" },
    ].map(({ side, account }) =>
      putNew({
        pk: `ledger#${messageId}#${revision}#${side}`,
        messageId,
        side,
        account,
        amount,
        currency,
        at: now(),
      }),
    );

  const itemsOf = (effect: Effect, outcome: PaymentOutcome, order: Order): Items => {
    switch (effect) {
      case "shipped":
        return [
          record(outcome),
          pay(outcome, order, "shipped"),
          takeStock(order),
          ship(order),
          ...book(outcome),
        ];
      case "backordered":
        return [record(outcome), pay(outcome, order, "backordered"), ...book(outcome)];
      case "unpaid":
        return [record(outcome), markUnpaid(outcome)];
      case "noted":
        return [record(outcome)];
    }
  };

  return {
    async find(messageId) {
      const command = new GetCommand({
        ...table,
        Key: { pk: `order#${messageId}` },
        ConsistentRead: true,
      });
      const { Item: order } = await withTimeLimit(timeoutMs, (options) =>
        client.send(command, options),
      );
      return order as Order | undefined;
    },

    async apply(effect, outcome, order) {
      const command = new TransactWriteCommand({ TransactItems: itemsOf(effect, outcome, order) });
      try {
        await withTimeLimit(timeoutMs, (options) => client.send(command, options));
        return undefined;
      } catch (error) {
        if (!(error instanceof TransactionCanceledException)) throw error;
        return (error.CancellationReasons ?? []).map(({ Code, Item: item }) => ({
          code: Code ?? "None",
          ...(item && { item: unmarshall(item) }),
        }));
      }
    },
  };
}
