// Which operations there are, and which of their fields each knows.

import { DynamoDbError } from "./errors.ts";
import { batchGetItem, getItem, scan } from "./reads.ts";
import { onlyKnows } from "./requests.ts";
import type { Input } from "./requests.ts";
import { writeOne } from "./single-writes.ts";
import type { Store } from "./store.ts";
import { describeTable, listTables } from "./tables.ts";
import { createTransactions } from "./transactions.ts";
import type { Conflicts } from "./transactions.ts";

type Operate = (operation: string, input: Input, conflicts?: Conflicts) => object;

type Operation = {
  fields: readonly string[];
  run: (store: Store, input: Input, conflicts: Conflicts) => object;
};

const EXPRESSION = ["ExpressionAttributeNames", "ExpressionAttributeValues"];
const READ = ["TableName", "ConsistentRead", "ProjectionExpression", ...EXPRESSION];
const WRITE = [
  "TableName",
  "ConditionExpression",
  "ReturnValuesOnConditionCheckFailure",
  ...EXPRESSION,
];

const OPERATIONS: Readonly<Record<string, Operation>> = {
  DescribeTable: { fields: ["TableName"], run: describeTable },
  ListTables: { fields: [], run: listTables },
  GetItem: { fields: [...READ, "Key"], run: getItem },
  BatchGetItem: { fields: ["RequestItems"], run: batchGetItem },
  Scan: {
    fields: [...READ, "FilterExpression", "Limit", "ExclusiveStartKey", "Segment", "TotalSegments"],
    run: scan,
  },
  PutItem: {
    fields: [...WRITE, "Item"],
    run: (store, input, conflicts) => writeOne(store, "Put", input, conflicts),
  },
  UpdateItem: {
    fields: [...WRITE, "Key", "UpdateExpression"],
    run: (store, input, conflicts) => writeOne(store, "Update", input, conflicts),
  },
  DeleteItem: {
    fields: [...WRITE, "Key"],
    run: (store, input, conflicts) => writeOne(store, "Delete", input, conflicts),
  },
};

/** DynamoDB without HTTP: an operation's output, at once. @throws DynamoDbError */
export function createOperations(store: Store): Operate {
  const transactions = createTransactions(store);
  return (name, input, conflicts = () => false) => {
    if (name === "TransactWriteItems") {
      onlyKnows(name, input, ["TransactItems", "ClientRequestToken"]);
      return transactions.write(input, conflicts);
    }
    const operation = OPERATIONS[name];
    if (!operation) throw new DynamoDbError("UnknownOperationException", "");
    onlyKnows(name, input, operation.fields);
    return operation.run(store, input, conflicts);
  };
}
