// Reads idempotency records, and never writes one.
import { setTimeout as sleep } from "node:timers/promises";

import { BatchGetCommand } from "@aws-sdk/lib-dynamodb";
import type { DynamoDBDocumentClient } from "@aws-sdk/lib-dynamodb";

import type { IdempotencyRecord } from "../../lib/payments/record.ts";

const BATCH = 100; // the most that BatchGetItem takes

/** The records of these message ids, as they are now (consistent reads); those that exist. */
export async function readRecords(
  client: DynamoDBDocumentClient,
  tableName: string,
  messageIds: readonly string[],
): Promise<Map<string, IdempotencyRecord>> {
  const records = new Map<string, IdempotencyRecord>();
  const ids = [...new Set(messageIds)];
  for (let at = 0; at < ids.length; at += BATCH) {
    let keys = ids
      .slice(at, at + BATCH)
      .map((messageId): Record<string, unknown> => ({ messageId }));
    for (let waitMs = 50; keys.length > 0; waitMs = Math.min(2 * waitMs, 2_000)) {
      const { Responses, UnprocessedKeys } = await client.send(
        new BatchGetCommand({
          RequestItems: { [tableName]: { Keys: keys, ConsistentRead: true } },
        }),
      );
      for (const item of (Responses?.[tableName] ?? []) as IdempotencyRecord[]) {
        records.set(item.messageId, item);
      }
      keys = UnprocessedKeys?.[tableName]?.Keys ?? [];
      if (keys.length > 0) await sleep(waitMs); // a throttled table
    }
  }
  return records;
}
