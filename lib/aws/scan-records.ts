// Reads the records that a reconciliation needs, page by page.

import { ScanCommand } from "@aws-sdk/lib-dynamodb";
import type { DynamoDBDocumentClient } from "@aws-sdk/lib-dynamodb";

import { withTimeLimit } from "../net/time-limit.ts";
import type { IdempotencyRecord } from "../payments/record.ts";
import type { RecordEntry, Window } from "../reconcile/compare.ts";

/** What a comparison needs, as a projection. */
export const RECORD_ENTRY = "messageId, firstClaimedAt, leaseExpiresAt, outcome, amount, currency";

const OF_WINDOW = "firstClaimedAt BETWEEN :since AND :until";
const UNFINISHED = "#status = :inProgress OR outcome.#result IN (:processing, :action)";

/**
 * Those first claimed in the window; when `unfinished`, of any age: claims that nobody completed, and
 * open outcomes.
 * The filter spares their transfer; DynamoDB reads, and bills, the whole table.
 * https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Scan.html
 */
export function recordScanner(
  client: DynamoDBDocumentClient,
  tableName: string,
  timeoutMs: number,
) {
  return async function* scan(
    { since, until }: Window,
    { unfinished }: { unfinished: boolean },
  ): AsyncGenerator<RecordEntry> {
    let from: Record<string, unknown> | undefined;
    do {
      const command = new ScanCommand({
        TableName: tableName,
        FilterExpression: unfinished ? `${OF_WINDOW} OR ${UNFINISHED}` : OF_WINDOW,
        ProjectionExpression: RECORD_ENTRY,
        ...(unfinished && {
          ExpressionAttributeNames: { "#status": "status", "#result": "result" },
        }),
        ExpressionAttributeValues: {
          ":since": since,
          ":until": until,
          ...(unfinished && {
            ":inProgress": "IN_PROGRESS",
            ":processing": "processing",
            ":action": "requires_action",
          }),
        },
        ...(from && { ExclusiveStartKey: from }),
      });
      const { Items = [], LastEvaluatedKey } = await withTimeLimit(timeoutMs, (options) =>
        client.send(command, options),
      );
      for (const item of Items) yield recordEntryOf(item as IdempotencyRecord);
      from = LastEvaluatedKey;
    } while (from);
  };
}

export function recordEntryOf(record: IdempotencyRecord): RecordEntry {
  const { messageId, firstClaimedAt, leaseExpiresAt, outcome, amount, currency } = record;
  return {
    what: "record",
    messageId,
    firstClaimedAt,
    leaseExpiresAt,
    ...(outcome && { outcome }),
    ...(amount !== undefined && { amount }),
    ...(currency !== undefined && { currency }),
  };
}
