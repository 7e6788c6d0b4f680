// One conditional write on one item, as a pure step: what the item is afterwards. For the server, for
// transactions, and for the simulation's table, which has no server.

import type { Item } from "./attribute-value.ts";
import { conditionOf } from "./condition.ts";
import { conditionFailed, invalidParameters } from "./errors.ts";
import { checkUnused } from "./expression.ts";
import type { Given } from "./expression.ts";
import { updateOf } from "./update.ts";

export type WriteKind = "Put" | "Update" | "Delete" | "ConditionCheck";

/** The fields of PutItem, UpdateItem, DeleteItem and of a transaction's actions that decide the result. */
export type WriteInput = Given & {
  Item?: Item | undefined;
  Key?: Item | undefined;
  ConditionExpression?: string | undefined;
  UpdateExpression?: string | undefined;
  ReturnValuesOnConditionCheckFailure?: string | undefined;
};

function expressionsOf({ ConditionExpression, UpdateExpression }: WriteInput) {
  return {
    condition: ConditionExpression === undefined ? undefined : conditionOf(ConditionExpression),
    update: UpdateExpression === undefined ? undefined : updateOf(UpdateExpression),
  };
}

/** @throws DynamoDbError when the request gives a placeholder that it does not use */
export function checkPlaceholders(input: WriteInput): void {
  const { condition, update } = expressionsOf(input);
  checkUnused(input, [condition, update]);
}

/**
 * Reads a write; the step that it returns applies it, as often as one likes.
 * @param partitionKey which no update may change
 * @throws DynamoDbError when its expressions are wrong whatever the item is; the step throws what the
 * item makes of it, a failed condition before all
 */
export function writeOf(
  kind: WriteKind,
  input: WriteInput,
  partitionKey: string,
): (before: Item | undefined) => Item | undefined {
  const { condition, update } = expressionsOf(input);
  condition?.check(input);
  update?.check(input);
  for (const [name = ""] of update?.paths ?? []) {
    const changed = input.ExpressionAttributeNames?.[name] ?? name;
    if (changed === partitionKey) {
      throw invalidParameters(
        `Cannot update attribute ${changed}. This attribute is part of the key`,
      );
    }
  }

  return (before) => {
    if (condition && !condition.holds(before, input)) {
      throw conditionFailed(
        input.ReturnValuesOnConditionCheckFailure === "ALL_OLD" ? before : undefined,
      );
    }
    switch (kind) {
      case "Put":
        return input.Item;
      case "Update": {
        const from = before ?? input.Key ?? {};
        return update ? update.apply(from, input) : from;
      }
      case "Delete":
        return undefined;
      case "ConditionCheck":
        return before;
    }
  };
}
