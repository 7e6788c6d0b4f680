// DynamoDB's errors, by the names and messages that it answers with.

import type { Item } from "./attribute-value.ts";

/** `body` joins the message: the old item, the reasons of a canceled transaction. */
export class DynamoDbError extends Error {
  readonly code: string;
  readonly body: Record<string, unknown>;

  constructor(code: string, message: string, body: Record<string, unknown> = {}) {
    super(message);
    this.name = code;
    this.code = code;
    this.body = body;
  }
}

export function invalid(message: string): DynamoDbError {
  return new DynamoDbError("ValidationException", message);
}

export function invalidParameters(rule: string): DynamoDbError {
  return invalid(`One or more parameter values were invalid: ${rule}`);
}

/** What AWS's model of the API rejects before the service itself looks at it. */
export function outOfModel(value: unknown, name: string, constraint: string): DynamoDbError {
  return invalid(
    `1 validation error detected: Value '${String(value)}' at '${name}' failed to satisfy constraint: ${constraint}`,
  );
}

export function conditionFailed(old: Item | undefined): DynamoDbError {
  const body = old ? { Item: old } : {};
  return new DynamoDbError(
    "ConditionalCheckFailedException",
    "The conditional request failed",
    body,
  );
}

export function noSuchTable(message = "Requested resource not found"): DynamoDbError {
  return new DynamoDbError("ResourceNotFoundException", message);
}
