// A DynamoDB table in memory: conditional writes, the old item on a failed condition, TTL.

import { ConditionalCheckFailedException } from "@aws-sdk/client-dynamodb";
import { DeleteCommand, GetCommand, PutCommand, UpdateCommand } from "@aws-sdk/lib-dynamodb";
import { marshall } from "@aws-sdk/util-dynamodb";

import { holds, updated } from "./expressions.ts";
import type { Item, Placeholders } from "./expressions.ts";

export type Table = {
  /** The item as a reader would see it. */
  item: (key: string) => Item | undefined;
  items: () => Item[];
  /** Applies one command of the document client. Throws what DynamoDB answers with. */
  apply: (command: object) => object;
};

export type TableSettings = {
  partitionKey: string;
  ttlAttribute: string;
  /** Epoch ms. */
  now: () => number;
  /** Whether TTL deletes as soon as it may; if not, never. DynamoDB promises neither. */
  deletesExpired: boolean;
  /** Told of every write before it is made. */
  onWrite?: (before: Item | undefined, after: Item | undefined) => void;
};

export function createTable(settings: TableSettings): Table {
  const { partitionKey, ttlAttribute, now, deletesExpired, onWrite } = settings;
  const stored = new Map<string, Item>();

  const item = (key: string): Item | undefined => {
    const found = stored.get(key);
    // The attribute is in epoch seconds: in ms it would lie some 50,000 years ahead.
    if (found && deletesExpired && Number(found[ttlAttribute]) * 1_000 <= now()) {
      stored.delete(key);
      return undefined;
    }
    return found;
  };

  const write = (key: string, before: Item | undefined, after: Item | undefined): object => {
    onWrite?.(before, after);
    if (after) stored.set(key, after);
    else stored.delete(key);
    return {};
  };

  return {
    item,
    items: () => [...stored.keys()].map(item).filter((found) => found !== undefined),
    apply(command) {
      if (command instanceof PutCommand) {
        const { Item: given = {} } = command.input;
        const key = String(given[partitionKey]);
        return write(key, checked(command.input, item(key)), { ...given });
      }
      if (command instanceof UpdateCommand) {
        const { Key = {}, UpdateExpression = "" } = command.input;
        const key = String(Key[partitionKey]);
        const before = checked(command.input, item(key));
        return write(key, before, updated(UpdateExpression, before ?? Key, command.input));
      }
      if (command instanceof DeleteCommand) {
        const key = String(command.input.Key?.[partitionKey]);
        return write(key, checked(command.input, item(key)), undefined);
      }
      if (command instanceof GetCommand) {
        const found = item(String(command.input.Key?.[partitionKey]));
        return found ? { Item: { ...found } } : {};
      }
      throw new Error(`The table's model does not know ${command.constructor.name}.`);
    },
  };
}

type Conditional = Placeholders & {
  ConditionExpression?: string | undefined;
  ReturnValuesOnConditionCheckFailure?: string | undefined;
};

/** The old item, if the condition lets the write through. */
function checked(input: Conditional, before: Item | undefined): Item | undefined {
  const { ConditionExpression: condition, ReturnValuesOnConditionCheckFailure: returns } = input;
  if (condition === undefined || holds(condition, before, input)) return before;
  throw new ConditionalCheckFailedException({
    message: "The conditional request failed",
    $metadata: {},
    ...(returns === "ALL_OLD" &&
      before && { Item: marshall(before, { removeUndefinedValues: true }) }),
  });
}
