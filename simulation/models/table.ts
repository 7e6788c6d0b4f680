// A DynamoDB table in memory: conditional writes by the local table's engine, the old item on a failed
// condition, TTL as a schedule has it.

import {
  ConditionalCheckFailedException,
  TransactionCanceledException,
} from "@aws-sdk/client-dynamodb";
import type { CancellationReason } from "@aws-sdk/client-dynamodb";
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
  /**
   * Applies one command of the document client. Throws what DynamoDB answers with: for a transaction
   * also while another one is at the item with the index `conflicting`.
   */
  apply: (command: object, conflicting?: number) => object;
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
  /** Called after every command that wrote. */
  onWritten?: () => void;
};

/** Both forms, so that a reader does not convert it again. */
type Stored = { typed: TypedItem; plain: Item };

export function createTable(settings: TableSettings): Table {
  const { partitionKey, ttlAttribute, now, deletesExpired, onWrite, onWritten } = settings;
  const stored = new Map<string, Stored>();
  const applied = new Map<string, string>();
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

  function save(key: string, before: Stored | undefined, after: Stored | undefined): void {
    onWrite?.(before?.plain, after?.plain);
    if (after) stored.set(key, after);
    else stored.delete(key);
  }

  /** `put` is the item of a put: it need not be converted back. */
  function write(kind: WriteKind, key: string, input: WriteInput, put?: Item): object {
    const before = find(key);
    const typed = stepped(writeOf(kind, input, keyNames), before?.typed);
    save(key, before, typed && { typed, plain: put ? { ...put } : plainItem(typed) });
    onWritten?.();
    return {};
  }

  /** All of the writes, or none; for a token that was given before, none. */
  function transact({ input }: TransactWriteCommand, conflicting?: number): object {
    const { ClientRequestToken: token } = input;
    const request = JSON.stringify(input.TransactItems);
    const earlier = token === undefined ? undefined : applied.get(token);
    if (earlier === request) return {};
    if (earlier !== undefined) throw named("IdempotentParameterMismatchException");
    const steps = (input.TransactItems ?? []).map((action) => {
      const [kind, one] = Object.entries(action)[0] as [WriteKind, PlainInput];
      const key = String((one.Item ?? one.Key)?.[partitionKey]);
      return { key, before: find(key), step: writeOf(kind, typedInput(one), keyNames) };
    });
    if (new Set(steps.map(({ key }) => key)).size < steps.length) {
      throw named("ValidationException");
    }
    const reasons: CancellationReason[] = [];
    const writes = steps.map(({ key, before, step }, index) => {
      let typed: TypedItem | undefined;
      let reason: CancellationReason = { Code: "None" };
      try {
        typed = stepped(step, before?.typed);
      } catch (error) {
        const { Item: item } = error as ConditionalCheckFailedException;
        reason = { Code: "ConditionalCheckFailed", ...(item && { Item: item }) };
      }
      reasons.push(index === conflicting ? { Code: "TransactionConflict" } : reason);
      return { key, before, after: typed && { typed, plain: plainItem(typed) } };
    });
    if (reasons.some(({ Code }) => Code !== "None")) {
      const message = `canceled [${reasons.map(({ Code }) => Code).join(", ")}]`;
      throw new TransactionCanceledException({
        message,
        $metadata: {},
        CancellationReasons: reasons,
      });
    }
    for (const { key, before, after } of writes) save(key, before, after);
    if (token !== undefined) applied.set(token, request);
    onWritten?.();
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
    apply(command, conflicting) {
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

const named = (name: string): Error => Object.assign(new Error(name), { name });

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
