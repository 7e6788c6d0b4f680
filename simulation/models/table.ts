// A DynamoDB table in memory: conditional writes by the local table's engine, the old item on a failed
// condition, TTL as a schedule has it.

import {
  ConditionalCheckFailedException,
  TransactionCanceledException,
} from "@aws-sdk/client-dynamodb";
import {
  DeleteCommand,
  GetCommand,
  PutCommand,
  TransactWriteCommand,
  UpdateCommand,
} from "@aws-sdk/lib-dynamodb";

import { plainItem, typedItem } from "../../local/table/attribute-value.ts";
import type { Item as TypedItem } from "../../local/table/attribute-value.ts";
import { DynamoDbError } from "../../local/table/errors.ts";
import { createTransactions } from "../../local/table/transactions.ts";
import { writeOf } from "../../local/table/write.ts";
import type { WriteInput, WriteKind } from "../../local/table/write.ts";

/** As the document client shows it. */
export type Item = Record<string, unknown>;

export type Table = ReturnType<typeof createTable>;

type TableSettings = {
  partitionKey: string;
  ttlAttribute: string;
  /** Epoch ms. */
  now: () => number;
  /** Whether TTL deletes as soon as it may; if not, never. DynamoDB guarantees neither. */
  deletesExpired: boolean;
  /** Called before every write. */
  onWrite?: (before: Item | undefined, after: Item | undefined) => void;
  /** Called after every command that wrote. */
  onWritten?: () => void;
};

/** Both forms, so that a reader does not convert it again. */
type Stored = { typed: TypedItem; plain: Item };

export function createTable(settings: TableSettings) {
  const { partitionKey, ttlAttribute, now, deletesExpired, onWrite, onWritten } = settings;
  const stored = new Map<string, Stored>();

  const find = (key: string): Stored | undefined => {
    const found = stored.get(key);
    // The attribute is in epoch seconds: in ms it would lie some 50,000 years ahead.
    if (found && deletesExpired && Number(found.plain[ttlAttribute]) * 1_000 <= now()) {
      stored.delete(key);
      return undefined;
    }
    return found;
  };

  function save(key: string, before: Stored | undefined, after: Stored | undefined): void {
    onWrite?.(before?.plain, after?.plain);
    if (after) stored.set(key, after);
    else stored.delete(key);
  }

  /** `put` is the item of a put: it need not be converted back. */
  function write(kind: WriteKind, key: string, input: WriteInput, put?: Item): object {
    const before = find(key);
    const typed = asSdk(() => writeOf(kind, input, partitionKey)(before?.typed));
    save(key, before, typed && { typed, plain: put ? { ...put } : plainItem(typed) });
    onWritten?.();
    return {};
  }

  // What transactions see of it.
  const facade = {
    name: partitionKey,
    partitionKey,
    items: { get: (key: string) => find(key)?.typed },
    write(key: string, _before: TypedItem | undefined, typed: TypedItem | undefined) {
      save(key, find(key), typed && { typed, plain: plainItem(typed) });
    },
  };
  const transactions = createTransactions({ now, table: () => facade });

  function transact({ input }: TransactWriteCommand, conflicting?: number): object {
    const keys: string[] = [];
    const TransactItems = (input.TransactItems ?? []).map((action) => {
      const [kind, one] = Object.entries(action)[0] as [WriteKind, PlainInput];
      keys.push(String((one.Item ?? one.Key)?.[partitionKey]));
      return { [kind]: typedInput(one) };
    });
    const isConflict = (key: string) => conflicting !== undefined && keys[conflicting] === key;
    const { ClientRequestToken } = input;
    asSdk(() => transactions.write({ TransactItems, ClientRequestToken }, isConflict));
    onWritten?.();
    return {};
  }

  return {
    /** The item as a reader would see it. */
    item: (key: string): Item | undefined => find(key)?.plain,
    items: (): Item[] =>
      [...stored.keys()].flatMap((key) => {
        const found = find(key);
        return found ? [found.plain] : [];
      }),
    /** Puts an item, or its absence, where no command did. */
    restore(key: string, item: Item | undefined): void {
      if (item) stored.set(key, { typed: typedItem(item), plain: item });
      else stored.delete(key);
    },
    /**
     * Applies one command of the document client. Throws what DynamoDB answers with: for a transaction
     * also while another one is at the item with the index `conflicting`.
     */
    apply(command: object, conflicting?: number): object {
      if (command instanceof TransactWriteCommand) return transact(command, conflicting);
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

/** Runs it, with the SDK's own errors for a condition that failed and a transaction that was canceled. */
function asSdk<T>(run: () => T): T {
  try {
    return run();
  } catch (error) {
    if (!(error instanceof DynamoDbError)) throw error;
    const given = { message: error.message, $metadata: {}, ...error.body };
    if (error.code === "ConditionalCheckFailedException") {
      throw new ConditionalCheckFailedException(given);
    }
    if (error.code === "TransactionCanceledException")
      throw new TransactionCanceledException(given);
    throw Object.assign(error, { name: error.code });
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
