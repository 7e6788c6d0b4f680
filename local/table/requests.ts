// Reads the fields of a request, and rejects what the table does not know rather than passing over it.

import type { Item } from "./attribute-value.ts";
import { invalid } from "./errors.ts";
import type { Given } from "./expression.ts";
import { readItem, readValue } from "./item.ts";
import type { WriteInput } from "./write.ts";

export type Input = Record<string, unknown>;

/** Legacy parameters, indexes and the like: an answer that ignored one would be a wrong answer. */
export function onlyKnows(operation: string, input: Input, fields: readonly string[]): void {
  const unknown = Object.keys(input).filter((field) => !fields.includes(field));
  if (unknown.length > 0) {
    throw invalid(`The local table does not know ${unknown.join(", ")} of ${operation}.`);
  }
}

export function readGiven(input: Input): Given {
  const names = input["ExpressionAttributeNames"] as Record<string, string> | undefined;
  const values = input["ExpressionAttributeValues"] as Item | undefined;
  notEmpty("ExpressionAttributeNames", names);
  notEmpty("ExpressionAttributeValues", values);
  return {
    ...(names && { ExpressionAttributeNames: names }),
    ...(values && { ExpressionAttributeValues: readValues(values) }),
  };
}

function notEmpty(field: string, given: object | undefined): void {
  if (given && Object.keys(given).length === 0) throw invalid(`${field} must not be empty`);
}

function readValues(values: Item): Item {
  const read: Item = {};
  for (const [placeholder, value] of Object.entries(values)) {
    try {
      read[placeholder] = readValue(value);
    } catch (error) {
      throw invalid(
        `ExpressionAttributeValues contains invalid value: ${(error as Error).message} for key ${placeholder}`,
      );
    }
  }
  return read;
}

/** The fields of a write, its values well-formed. */
export function readWrite(input: Input): WriteInput {
  const { Item, Key, ConditionExpression, UpdateExpression, ...rest } = input as WriteInput;
  return {
    ...readGiven(input),
    ...(Item && { Item: readItem(Item) }),
    ...(Key && { Key: readItem(Key) }),
    ConditionExpression,
    UpdateExpression,
    ReturnValuesOnConditionCheckFailure: rest.ReturnValuesOnConditionCheckFailure,
  };
}
