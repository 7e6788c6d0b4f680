// Reads the records that a reconciliation needs, page by page.

import { ScanCommand } from "@aws-sdk/lib-dynamodb";
import type { DynamoDBDocumentClient } from "@aws-sdk/lib-dynamodb";

import type { IdempotencyRecord } from "../payments/record.ts";
import type { RecordEntry } from "../reconcile/compare.ts";
import type { Window } from "../reconcile/run.ts";

/**
 * Those first claimed in the window, and of any age: claims that nobody completed, and open outcomes.
 * The filter spares their transfer; DynamoDB reads, and bills, the whole table.
 * https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Scan.html
 */
export function recordScanner(
  client: DynamoDBDocumentClient,
  tableName: string,
  timeoutMs: number,
) {
  return async function* scan({ since, until }: Window): AsyncGenerator<RecordEntry> {
    let from: Record<string, unknown> | undefined;
    do {
      const command = new ScanCommand({
        TableName: tableName,
        FilterExpression:
          "firstClaimedAt BETWEEN :since AND :until OR #status = :inProgress OR outcome.#result IN (:processing, :action)",
        ProjectionExpression: "messageId, firstClaimedAt, leaseExpiresAt, outcome",
        ExpressionAttributeNames: { "#status": "status", "#result": "result" },
        ExpressionAttributeValues: {
          ":since": since,
          ":until": until,
          ":inProgress": "IN_PROGRESS",
          ":processing": "processing",
          ":action": "requires_action",
        },
        ...(from && { ExclusiveStartKey: from }),
      });
      const { Items = [], LastEvaluatedKey } = await client.send(command, {
        abortSignal: AbortSignal.timeout(timeoutMs),
      });
      for (const item of Items) {
        const { messageId, firstClaimedAt, leaseExpiresAt, outcome } = item as IdempotencyRecord;
        yield {
          what: "record",
          messageId,
          firstClaimedAt,
          leaseExpiresAt,
          ...(outcome && { outcome }),
        };
      }
      from = LastEvaluatedKey;
    } while (from);
  };
}
