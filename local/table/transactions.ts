// TransactWriteItems: up to a hundred conditional writes, all of them or none.
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/transaction-apis.html

import type { Item } from "./attribute-value.ts";
import { DynamoDbError, invalid, outOfModel } from "./errors.ts";
import { onlyKnows } from "./requests.ts";
import type { Input } from "./requests.ts";
import { targetOf } from "./single-writes.ts";
import type { Tables, Target } from "./single-writes.ts";
import type { WriteKind } from "./write.ts";

const MOST_ACTIONS = 100;
/** "A client request token is valid for 10 minutes after the first request that uses it completes." */
const TOKEN_MS = 10 * 60_000;

export type CancellationReason = { Code: string; Message?: string; Item?: Item };

/** Whether another transaction is at the item with this id. Operations run one after the other here, so
 * it is a fault that says so. */
export type Conflicts = (id: string) => boolean;

export type Transactions = {
  write: (input: Input, conflicts: Conflicts) => object;
};

export function createTransactions(store: Tables & { now: () => number }): Transactions {
  const done = new Map<string, { request: string; atMs: number }>();

  function write(input: Input, conflicts: Conflicts): object {
    const token = input["ClientRequestToken"] as string | undefined;
    const actions = (input["TransactItems"] ?? []) as Input[];
    if (actions.length === 0 || actions.length > MOST_ACTIONS) {
      const bound =
        actions.length === 0 ? "greater than or equal to 1" : "less than or equal to 100";
      throw outOfModel("[...]", "transactItems", `Member must have length ${bound}`);
    }
    // The order of a map's entries is not part of what was asked for.
    const request = JSON.stringify(actions, sorted);
    const earlier = token === undefined ? undefined : done.get(token);
    if (earlier && store.now() - earlier.atMs < TOKEN_MS) {
      if (earlier.request === request) return {};
      throw new DynamoDbError(
        "IdempotentParameterMismatchException",
        "A request with this token but different parameters was sent before",
      );
    }
    apply(
      actions.map((action) => actionOf(store, action)),
      conflicts,
    );
    if (token !== undefined) done.set(token, { request, atMs: store.now() });
    return {};
  }

  return { write };
}

function actionOf(store: Tables, action: Input): Target {
  const kinds = Object.keys(action);
  const [kind] = kinds;
  if (
    kinds.length !== 1 ||
    (kind !== "Put" && kind !== "Update" && kind !== "Delete" && kind !== "ConditionCheck")
  ) {
    throw invalid("TransactItems can only contain one of Check, Put, Update or Delete");
  }
  const input = action[kind] as Input;
  onlyKnows(kind, input, FIELDS);
  return targetOf(store, kind satisfies WriteKind, input);
}

const FIELDS = [
  "TableName",
  "Item",
  "Key",
  "ConditionExpression",
  "UpdateExpression",
  "ExpressionAttributeNames",
  "ExpressionAttributeValues",
  "ReturnValuesOnConditionCheckFailure",
];

/** Every action sees the items as they were before the first: none writes before all have passed. */
function apply(targets: readonly Target[], conflicts: Conflicts): void {
  const ids = new Set(targets.map(({ table, id }) => `${table.name} ${id}`));
  if (ids.size < targets.length) {
    throw invalid("Transaction request cannot include multiple operations on one item");
  }
  const results = targets.map((target) => {
    const before = target.table.items.get(target.id);
    if (conflicts(target.id)) return { target, reason: CONFLICT };
    try {
      return { target, before, after: target.step(before), reason: NONE };
    } catch (error) {
      if (error instanceof DynamoDbError) return { target, reason: reasonOf(error) };
      throw error;
    }
  });
  if (results.some(({ reason }) => reason !== NONE))
    throw canceled(results.map(({ reason }) => reason));
  for (const { target, before, after } of results) target.table.write(target.id, before, after);
}

const NONE: CancellationReason = { Code: "None" };
const CONFLICT: CancellationReason = {
  Code: "TransactionConflict",
  Message: "Transaction is ongoing for the item",
};

function reasonOf({ code, message, body }: DynamoDbError): CancellationReason {
  const Code =
    code === "ConditionalCheckFailedException" ? "ConditionalCheckFailed" : "ValidationError";
  return { Code, Message: message, ...body };
}

function canceled(reasons: readonly CancellationReason[]): DynamoDbError {
  const codes = reasons.map(({ Code }) => Code).join(", ");
  return new DynamoDbError(
    "TransactionCanceledException",
    `Transaction cancelled, please refer cancellation reasons for specific reasons [${codes}]`,
    { CancellationReasons: reasons },
  );
}

function sorted(_name: string, value: unknown): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)));
}
