// The least DynamoDB that the variants can work with: items by key, conditional writes.

import { holds, updated } from "./condition.ts";
import type { Item } from "./condition.ts";

type Input = {
  Item?: Item;
  Key?: Item;
  ConditionExpression?: string;
  UpdateExpression?: string;
  ExpressionAttributeNames?: Record<string, string>;
  ExpressionAttributeValues?: Item;
  ReturnValuesOnConditionCheckFailure?: string;
};

export type Reply = { status: number; body: string };

/** Answers the operations of one table whose partition key is `messageId`. */
export function createTable(): (operation: string, body: string) => Reply {
  const items = new Map<string, Item>();

  return (operation, body) => {
    const input = JSON.parse(body) as Input;
    const { ExpressionAttributeNames: names, ExpressionAttributeValues: values } = input;
    const key = (input.Item ?? input.Key)?.["messageId"]?.S;
    if (key === undefined) throw new Error(`${operation} without a messageId: ${body}`);
    const old = items.get(key);

    if (operation === "GetItem") return ok(old && { Item: old });
    if (input.ConditionExpression && !holds(input.ConditionExpression, old, names, values)) {
      return {
        status: 400,
        body: JSON.stringify({
          __type: "com.amazonaws.dynamodb.v20120810#ConditionalCheckFailedException",
          message: "The conditional request failed",
          ...(input.ReturnValuesOnConditionCheckFailure === "ALL_OLD" && { Item: old }),
        }),
      };
    }
    if (operation === "PutItem" && input.Item) items.set(key, input.Item);
    else if (operation === "UpdateItem" && input.UpdateExpression) {
      const before = old ?? input.Key ?? {};
      items.set(key, updated(input.UpdateExpression, before, names, values));
    } else throw new Error(`The bench's table does not know ${operation}.`);
    return ok();
  };
}

function ok(body: object = {}): Reply {
  return { status: 200, body: JSON.stringify(body) };
}
