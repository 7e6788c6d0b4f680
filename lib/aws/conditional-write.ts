// A conditional write to the records table, and what stands there when its condition fails.

import { ConditionalCheckFailedException } from "@aws-sdk/client-dynamodb";
import type { PutCommand, UpdateCommand } from "@aws-sdk/lib-dynamodb";
import type { DynamoDBDocumentClient } from "@aws-sdk/lib-dynamodb";
import { unmarshall } from "@aws-sdk/util-dynamodb";

import { withTimeLimit } from "../net/time-limit.ts";
import { TableError } from "../payments/claim.ts";
import type { IdempotencyRecord } from "../payments/record.ts";

/** `standing` is undefined when there is no record, or none was asked for. */
type Written = "written" | { standing: IdempotencyRecord | undefined };

/**
 * Each write ends within its `timeoutMs`, the SDK's retries included, or throws `TableError`.
 *
 * https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_PutItem.html
 * (ReturnValuesOnConditionCheckFailure: the old item comes with the failure, and costs no read)
 */
export function conditionalWrites(
  client: DynamoDBDocumentClient,
): (command: PutCommand | UpdateCommand, timeoutMs: number) => Promise<Written> {
  return async (command, timeoutMs) => {
    try {
      await withTimeLimit(timeoutMs, (options) => client.send(command as UpdateCommand, options));
      return "written";
    } catch (error) {
      if (error instanceof ConditionalCheckFailedException) {
        return { standing: error.Item && (unmarshall(error.Item) as IdempotencyRecord) };
      }
      throw new TableError(error instanceof Error ? error.name : "unknown", error);
    }
  };
}
