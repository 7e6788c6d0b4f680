// Bugs at the door, and in the fulfillment of orders.

import type { Rule } from "../checkers/rules.ts";
import type { Edit, SeededBug } from "./load-worker.ts";

const bug = (name: string, lesson: string, ...edits: readonly Edit[]): SeededBug => {
  return { name, lesson, edits, family: "random orders" };
};

/** The rule that shows most. */
const showing = (shows: Rule, bug: SeededBug): SeededBug => ({ ...bug, shows });

const edit = (file: string, find: string, replace: string): Edit => ({ file, find, replace });

const DOOR = "http/accept-payment.ts";
const TABLE = "aws/orders-table.ts";
const FULFILL = "orders/fulfill.ts";
const HANDLER = "lambda/fulfillment-handler.ts";

const SEND =
  "await client.send(command, { abortSignal: AbortSignal.timeout(timeoutMs) });\n        return";
const TIMEOUT = "{ abortSignal: AbortSignal.timeout(timeoutMs) }";
const UNAVAILABLE =
  'return { ...problem("unavailable", undefined, { "retry-after": "5" }), cause };';
const MESSAGE = "messageBody(body, key.id, accepted.firstClaimedAt)";

export const ORDERS: readonly SeededBug[] = [
  // The door
  showing(
    "one_charge",
    bug(
      "makes a new id for each attempt of a client",
      "The client's key is what its attempts have in common: without it each of them pays.",
      edit(
        DOOR,
        'const key = readMessageId(headers["idempotency-key"], caller);',
        `const read = readMessageId(headers["idempotency-key"], caller);
        const key = "problem" in read ? read : { id: \`\${read.id}-\${deps.now()}\` };`,
      ),
    ),
  ),
  bug(
    "sends the message before there is a record",
    "The key may be another payment's, and what was sent cannot be taken back.",
    edit(
      DOOR,
      "const standing = await deps.claim(record);",
      `await deps.send(messageBody(body, key.id, now), payment.customer);
      const standing = await deps.claim(record);`,
    ),
    edit(DOOR, "if (!accepted.outcome) {", "if (false) {"),
  ),
  bug(
    "answers a repeat without sending the message again",
    "The first attempt may have died between the record and the message: nobody charges, and nobody says so.",
    edit(DOOR, "if (!accepted.outcome) {", "if (ours) {"),
  ),
  bug(
    "answers before the message is in the queue",
    "A 202 is a guarantee. The message may be lost on its way.",
    edit(
      DOOR,
      `await deps.send(${MESSAGE}, payment.customer);`,
      `void deps.send(${MESSAGE}, payment.customer).catch(() => {});`,
    ),
  ),
  bug(
    "accepts a payment although a service did not answer",
    "Nobody knows whether there is a record, and there is no message.",
    edit(DOOR, UNAVAILABLE, "return accepted202(record, caller, true);"),
  ),
  bug(
    "calls a key used when a service did not answer",
    "A client that hears 422 gives the payment up, which may be made.",
    edit(DOOR, UNAVAILABLE, 'return problem("key-reused");'),
  ),
  showing(
    "said_why",
    bug(
      "remembers a 422 as an outcome",
      "The client corrects its payment and asks with the same key, which is used now.",
      edit(
        DOOR,
        'if (decoded.kind === "invalid") {',
        `if (decoded.kind === "invalid") {
        await deps.claim({
          messageId: key.id, status: "COMPLETED", owner: deps.newOwner(), leaseExpiresAt: 0,
          attempt: 0, firstClaimedAt: now, fingerprint: "", revision: 1, completedAt: now,
          outcome: { result: "declined", code: "invalid" },
          expiresAt: Math.ceil((now + deps.limits.recordTtlMs) / 1_000),
        });`,
      ),
    ),
  ),
  bug(
    "takes another payment for a repeat",
    "The client believes that its second payment is made.",
    edit(
      DOOR,
      'if (accepted.fingerprint !== record.fingerprint) return problem("key-reused");',
      "",
    ),
  ),
  bug(
    "lets a repeat's message say when the repeat came",
    "If its record is lost then, a payment of yesterday looks like a new one, and Stripe has forgotten the key.",
    edit(DOOR, MESSAGE, "messageBody(body, key.id, now)"),
  ),
  bug(
    "lets two callers meet in one key",
    "Keys are minted by callers that know nothing of each other.",
    edit("http/idempotency-key.ts", "caller === undefined ? key : `${caller}/${key}`", "key"),
  ),
  bug(
    "lets a record of the door expire in ms",
    "DynamoDB's TTL is in seconds: the record would live for ever.",
    edit(DOOR, "(now + deps.limits.recordTtlMs) / 1_000", "now + deps.limits.recordTtlMs"),
  ),

  // The fulfillment
  bug(
    "records the event outside the transaction",
    "Between the two it dies, and the redelivery finds the event done: the customer has paid for nothing.",
    edit(TABLE, "import { GetCommand, Tran", "import { PutCommand, GetCommand, Tran"),
    edit(
      TABLE,
      SEND,
      `const [event, ...effects] = command.input.TransactItems;
        if (effect !== "backordered") {
          try {
            await client.send(new PutCommand(event.Put), ${TIMEOUT});
          } catch (error) {
            if (!error.Item) throw error;
            return [{ code: "ConditionalCheckFailed", item: unmarshall(error.Item) }];
          }
        }
        if (effects.length === 0) return undefined;
        await client.send(new TransactWriteCommand({ TransactItems: effects }), ${TIMEOUT});
        return`,
    ),
    edit(TABLE, "(error.CancellationReasons ?? [])", "[{}, ...(error.CancellationReasons ?? [])]"),
  ),
  bug(
    "keeps balances by ADD, beside the transaction",
    "An ADD is not idempotent: each delivery of the event books again.",
    edit(TABLE, "          ...book(outcome),\n", ""),
    edit(TABLE, '"backordered"), ...book(outcome)]', '"backordered")]'),
    edit(
      TABLE,
      SEND,
      `const balance = (side) => ({ Update: {
          ...table,
          Key: { pk: \`balance#\${outcome.messageId}#\${side}\` },
          UpdateExpression: "SET side = :side, messageId = :id ADD amount :amount",
          ExpressionAttributeValues: {
            ":side": side, ":id": outcome.messageId, ":amount": outcome.amount,
          },
        } });
        if (effect === "shipped") {
          const TransactItems = [balance("debit"), balance("credit")];
          await client.send(new TransactWriteCommand({ TransactItems }), ${TIMEOUT});
        }
        ${SEND}`,
    ),
  ),
  bug(
    "ships while the payment is processing",
    "A bank debit bounces days later, and the goods are gone.",
    edit(
      FULFILL,
      'if (result === "succeeded") return',
      'if (result === "succeeded" || result === "processing") return',
    ),
  ),
  bug(
    "takes a conflict of transactions for a duplicate",
    "Nothing was decided and nothing was done: another order may have taken from the same stock.",
    edit(
      FULFILL,
      'if (passing) return { decision: "transient", code: passing };',
      'if (passing) return { decision: "duplicate" };',
    ),
  ),
  bug(
    "guards the effect with a read",
    "Two deliveries at once both read that the order is pending.",
    edit(
      FULFILL,
      'if (!order) return { decision: "unknown_order" };',
      `if (!order) return { decision: "unknown_order" };
      if (order.status === "paid") return { decision: "duplicate" };`,
    ),
    edit(TABLE, 'ConditionExpression: "attribute_not_exists(pk)", ...ALL_OLD }', "}"),
    edit(
      TABLE,
      "#status IN (:pending, :unpaid) AND amount",
      "(attribute_exists(pk) OR #status IN (:pending, :unpaid)) AND amount",
    ),
  ),
  bug(
    "takes no answer for a transaction that was applied",
    "The request may have been lost. The event's record says so when it comes again.",
    edit(
      HANDLER,
      'return { decision: "transient", code: cause instanceof Error ? cause.name : typeof cause };',
      'return { decision: "duplicate" };',
    ),
  ),
  bug(
    "acknowledges an event that was not applied",
    "The queue is the retry.",
    edit(
      HANDLER,
      'case "transient":\n      return { kind: "backoff" };',
      'case "transient":\n      return { kind: "acknowledge" };',
    ),
  ),
  bug(
    "acknowledges an event that contradicts its order",
    "The customer has paid another amount, and nobody looks at it.",
    edit(
      HANDLER,
      'case "superseded":\n      return { kind: "acknowledge" };',
      'case "superseded":\n    case "conflict":\n      return { kind: "acknowledge" };',
    ),
  ),
  bug(
    "does not compare the amount with the order's",
    "The goods leave for whatever was paid.",
    edit(
      TABLE,
      "amount = :amount AND currency = :currency",
      "(amount = :amount OR currency = :currency)",
    ),
  ),
  bug(
    "marks an order unpaid whatever it is",
    "Events come out of order: the payment that failed first has succeeded since.",
    edit(
      TABLE,
      'ConditionExpression: "#status IN (:pending, :unpaid)",',
      'ConditionExpression: "attribute_exists(pk) OR #status IN (:pending, :unpaid)",',
    ),
  ),
  bug(
    "gives an order up once its payment failed",
    "The customer may pay the same PaymentIntent in another way.",
    edit(
      TABLE,
      '":unpaid": "unpaid",\n        ":intent"',
      '":unpaid": "pending",\n        ":intent"',
    ),
  ),
  bug(
    "takes from the stock what is not there",
    "Two customers have paid for the last one, and both are told that it is on its way.",
    edit(TABLE, 'ConditionExpression: "onHand >= :quantity",', ""),
  ),
  bug(
    "takes one from the stock, whatever the quantity",
    "The shop sells what it does not have.",
    edit(TABLE, '":quantity": quantity }', '":quantity": 1 }'),
  ),
  bug(
    "waits for the stock before it books a payment",
    "Out of stock is an outcome, not an outage: the event ends in the dead-letter queue, and a paid order is pending.",
    edit(
      FULFILL,
      'if (effect !== "shipped" || !onlyStockIsShort(canceled)) return',
      "if (canceled) return",
    ),
  ),
  bug(
    "keeps a backordered order off the books",
    "Stripe has the money, and the ledger does not.",
    edit(TABLE, '"backordered"), ...book(outcome)]', '"backordered")]'),
  ),
  bug(
    "names ledger lines after their revision alone",
    "The second order meets the lines of the first.",
    edit(TABLE, "ledger#${messageId}#${revision}", "ledger#${revision}"),
  ),
];
