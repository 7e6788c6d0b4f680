// Recorded outcomes in the records table: the one write that moves them forward.

import { UpdateCommand } from "@aws-sdk/lib-dynamodb";
import type { DynamoDBDocumentClient } from "@aws-sdk/lib-dynamodb";

import { predecessorsOf } from "../payments/finalize.ts";
import type { RecordedOutcomes } from "../payments/finalize.ts";
import { conditionalWrites } from "./conditional-write.ts";

//  COMPLETED, revision n ──advance──► COMPLETED, revision n + 1
const COMPLETED = "#status = :completed";
// A decline may have been recorded without its PaymentIntent's id.
const SAME_PAYMENT =
  "(outcome.paymentIntentId = :intent OR attribute_not_exists(outcome.paymentIntentId))";

// Nothing comes before the first result: its write only shows what stands there.
const NONE = "(none)";

export function recordedOutcomes(
  client: DynamoDBDocumentClient,
  tableName: string,
): RecordedOutcomes {
  const conditional = conditionalWrites(client);
  return {
    async advance(messageId, { paymentIntentId, outcome, amount, currency }, now, timeoutMs) {
      const earlier = predecessorsOf(outcome.result);
      const values = (earlier.length > 0 ? earlier : [NONE]).map(
        (result, index) => [`:earlier${index}`, result] as const,
      );
      const command = new UpdateCommand({
        TableName: tableName,
        Key: { messageId },
        ConditionExpression: `${COMPLETED} AND ${SAME_PAYMENT} AND outcome.#result IN (${values.map(([name]) => name).join(", ")})`,
        // Amount and currency are for records that predate them.
        UpdateExpression:
          "SET outcome = :outcome, completedAt = :now, revision = if_not_exists(revision, :first) + :one, amount = if_not_exists(amount, :amount), currency = if_not_exists(currency, :currency)",
        ExpressionAttributeNames: { "#status": "status", "#result": "result" },
        ExpressionAttributeValues: {
          ...Object.fromEntries(values),
          ":completed": "COMPLETED",
          ":intent": paymentIntentId,
          ":outcome": outcome,
          ":now": now,
          ":first": 1,
          ":one": 1,
          ":amount": amount,
          ":currency": currency,
        },
        ReturnValuesOnConditionCheckFailure: "ALL_OLD",
      });
      const result = await conditional(command, timeoutMs);
      if (result === "written") return { advanced: true };
      return { advanced: false, ...(result.standing && { standing: result.standing }) };
    },
  };
}
