// Reads one idempotency record: for a client that asks how a payment stands, never to decide about a charge.

import { GetCommand } from "@aws-sdk/lib-dynamodb";
import type { DynamoDBDocumentClient } from "@aws-sdk/lib-dynamodb";

import { withTimeLimit } from "../net/time-limit.ts";
import type { IdempotencyRecord } from "../payments/record.ts";

export function recordReader(
  client: DynamoDBDocumentClient,
  tableName: string,
  timeoutMs: number,
): (messageId: string) => Promise<IdempotencyRecord | undefined> {
  return async (messageId) => {
    const command = new GetCommand({
      TableName: tableName,
      Key: { messageId },
      ConsistentRead: true, // a client sees what was just accepted
    });
    const { Item } = await withTimeLimit(timeoutMs, (options) => client.send(command, options));
    return Item as IdempotencyRecord | undefined;
  };
}
