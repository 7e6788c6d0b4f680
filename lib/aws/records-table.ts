// The idempotency records in DynamoDB: four conditional writes and no read.

import { PutCommand, UpdateCommand } from "@aws-sdk/lib-dynamodb";
import type { DynamoDBDocumentClient } from "@aws-sdk/lib-dynamodb";

import { TableError } from "../payments/claim.ts";
import type { Records } from "../payments/claim.ts";
import { conditionalWrites } from "./conditional-write.ts";

//  absent ──claim──► IN_PROGRESS ──complete──► COMPLETED
//                     │      ▲
//              release▼      │takeover (exact owner and lease that were seen)
//                    IN_PROGRESS, lease 0
const NOBODY_CLAIMED = "attribute_not_exists(messageId)";
const AS_SEEN = "#owner = :seenOwner AND leaseExpiresAt = :seenLease AND #status = :inProgress";
// Also for complete: a late copy of it must not undo what has moved the outcome forward since.
const OURS_IN_PROGRESS = "#owner = :owner AND #status = :inProgress";

const NAMES = { "#owner": "owner", "#status": "status" };

/**
 * The records table. Each call ends within its `timeoutMs`, the SDK's retries included.
 *
 * https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_PutItem.html
 * (ReturnValuesOnConditionCheckFailure: the old item comes with the failure, and costs no read)
 */
export function recordsTable(client: DynamoDBDocumentClient, tableName: string): Records {
  const conditional = conditionalWrites(client);

  const standing = (result: Awaited<ReturnType<typeof conditional>>) => {
    if (result === "written") return undefined;
    if (result.standing) return result.standing;
    // The TTL deleted the record between the check and now: the next delivery sees the new state.
    throw new TableError("RecordVanished", undefined);
  };

  return {
    async claim(record, timeoutMs) {
      const command = new PutCommand({
        TableName: tableName,
        Item: record,
        ConditionExpression: NOBODY_CLAIMED,
        ReturnValuesOnConditionCheckFailure: "ALL_OLD",
      });
      return standing(await conditional(command, timeoutMs));
    },

    async takeOver(seen, claim, timeoutMs) {
      const command = new UpdateCommand({
        TableName: tableName,
        Key: { messageId: claim.messageId },
        ConditionExpression: AS_SEEN,
        UpdateExpression: "SET #owner = :owner, leaseExpiresAt = :lease, attempt = :attempt",
        ExpressionAttributeNames: NAMES,
        ExpressionAttributeValues: {
          ":seenOwner": seen.owner,
          ":seenLease": seen.leaseExpiresAt,
          ":inProgress": "IN_PROGRESS",
          ":owner": claim.owner,
          ":lease": claim.leaseExpiresAt,
          ":attempt": claim.attempt,
        },
        ReturnValuesOnConditionCheckFailure: "ALL_OLD",
      });
      return standing(await conditional(command, timeoutMs));
    },

    async complete(claim, { outcome, completedAt }, timeoutMs) {
      const command = new UpdateCommand({
        TableName: tableName,
        Key: { messageId: claim.messageId },
        ConditionExpression: OURS_IN_PROGRESS,
        UpdateExpression:
          "SET #status = :completed, outcome = :outcome, completedAt = :now, revision = :first REMOVE lastError",
        ExpressionAttributeNames: NAMES,
        ExpressionAttributeValues: {
          ":owner": claim.owner,
          ":inProgress": "IN_PROGRESS",
          ":completed": "COMPLETED",
          ":outcome": outcome,
          ":now": completedAt,
          ":first": 1,
        },
        ReturnValuesOnConditionCheckFailure: "ALL_OLD",
      });
      const result = await conditional(command, timeoutMs);
      if (result === "written") return true;
      // Our own update, whose reply was lost and which the SDK sent again.
      const { standing } = result;
      return standing?.owner === claim.owner && standing.outcome !== undefined;
    },

    async release(claim, error, timeoutMs) {
      const command = new UpdateCommand({
        TableName: tableName,
        Key: { messageId: claim.messageId },
        ConditionExpression: OURS_IN_PROGRESS,
        UpdateExpression: "SET leaseExpiresAt = :expired, lastError = :error",
        ExpressionAttributeNames: NAMES,
        ExpressionAttributeValues: {
          ":owner": claim.owner,
          ":inProgress": "IN_PROGRESS",
          ":expired": 0,
          ":error": error,
        },
      });
      await conditional(command, timeoutMs);
    },
  };
}
