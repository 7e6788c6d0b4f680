// A DynamoDB table in memory: conditional writes by the local table's engine, the old item on a failed
// condition, TTL as a schedule has it.

import { ConditionalCheckFailedException } from "@aws-sdk/client-dynamodb";
import { DeleteCommand, GetCommand, PutCommand, UpdateCommand } from "@aws-sdk/lib-dynamodb";

import { plainItem, typedItem } from "../../local/table/attribute-value.ts";
import type { Item as TypedItem } from "../../local/table/attribute-value.ts";
import { DynamoDbError } from "../../local/table/errors.ts";
import { writeOf } from "../../local/table/write.ts";
import type { WriteInput, WriteKind } from "../../local/table/write.ts";

/** As the document client shows it. */
export type Item = Record<string, unknown>;

export type Table = {
  /** The item as a reader would see it. */
  item: (key: string) => Item | undefined;
  items: () => Item[];
  /** Puts an item, or its absence, where no command did. */
  restore: (key: string, item: Item | undefined) => void;
  /** Applies one command of the document client. Throws what DynamoDB answers with. */
  apply: (command: object) => object;
};

export type TableSettings = {
  partitionKey: string;
  ttlAttribute: string;
  /** Epoch ms. */
  now: () => number;
  /** Whether TTL deletes as soon as it may; if not, never. DynamoDB guarantees neither. */
  deletesExpired: boolean;
  /** Called before every write. */
  onWrite?: (before: Item | undefined, after: Item | undefined) => void;
};

/** Both forms, so that a reader does not convert it again. */
type Stored = { typed: TypedItem; plain: Item };

export function createTable(settings: TableSettings): Table {
  const { partitionKey, ttlAttribute, now, deletesExpired, onWrite } = settings;
  const stored = new Map<string, Stored>();
  const keyNames = [partitionKey];

  const find = (key: string): Stored | undefined => {
    const found = stored.get(key);
    // The attribute is in epoch seconds: in ms it would lie some 50,000 years ahead.
    if (found && deletesExpired && Number(found.plain[ttlAttribute]) * 1_000 <= now()) {
      stored.delete(key);
      return undefined;
    }
    return found;
  };

  /** `put` is the item of a put: it need not be converted back. */
  function write(kind: WriteKind, key: string, input: WriteInput, put?: Item): object {
    const before = find(key);
    const typed = stepped(writeOf(kind, input, keyNames), before?.typed);
    const after = typed && { typed, plain: put ? { ...put } : plainItem(typed) };
    onWrite?.(before?.plain, after?.plain);
    if (after) stored.set(key, after);
    else stored.delete(key);
    return {};
  }

  return {
    item: (key) => find(key)?.plain,
    items: () =>
      [...stored.keys()].flatMap((key) => {
        const found = find(key);
        return found ? [found.plain] : [];
      }),
    restore(key, item) {
      if (item) stored.set(key, { typed: typedItem(item), plain: item });
      else stored.delete(key);
    },
    apply(command) {
      if (command instanceof PutCommand) {
        const { Item = {} } = command.input;
        return write("Put", String(Item[partitionKey]), typedInput(command.input), Item);
      }
      if (command instanceof UpdateCommand || command instanceof DeleteCommand) {
        const kind = command instanceof UpdateCommand ? "Update" : "Delete";
        return write(kind, String(command.input.Key?.[partitionKey]), typedInput(command.input));
      }
      if (command instanceof GetCommand) {
        const found = find(String(command.input.Key?.[partitionKey]));
        return found ? { Item: { ...found.plain } } : {};
      }
      throw new Error(`The table's model does not know ${command.constructor.name}.`);
    },
  };
}

/** Takes the step, with the SDK's own error for a condition that failed. */
function stepped(
  step: (before: TypedItem | undefined) => TypedItem | undefined,
  before: TypedItem | undefined,
): TypedItem | undefined {
  try {
    return step(before);
  } catch (error) {
    if (!(error instanceof DynamoDbError) || error.code !== "ConditionalCheckFailedException") {
      throw error;
    }
    throw new ConditionalCheckFailedException({
      message: error.message,
      $metadata: {},
      ...error.body,
    });
  }
}

type PlainInput = Omit<WriteInput, "Item" | "Key" | "ExpressionAttributeValues"> & {
  Item?: Item | undefined;
  Key?: Item | undefined;
  ExpressionAttributeValues?: Item | undefined;
};

function typedInput(input: PlainInput): WriteInput {
  const { Item, Key, ExpressionAttributeValues: values } = input;
  return {
    ConditionExpression: input.ConditionExpression,
    UpdateExpression: input.UpdateExpression,
    ExpressionAttributeNames: input.ExpressionAttributeNames,
    ReturnValuesOnConditionCheckFailure: input.ReturnValuesOnConditionCheckFailure,
    Item: Item && typedItem(Item),
    Key: Key && typedItem(Key),
    ExpressionAttributeValues: values && typedItem(values),
  };
}
