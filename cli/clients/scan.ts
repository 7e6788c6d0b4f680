// Reads a whole table, page by page.
import { ScanCommand } from "@aws-sdk/lib-dynamodb";
import type { DynamoDBDocumentClient, ScanCommandInput } from "@aws-sdk/lib-dynamodb";

/** Yields the items of each page that the filter leaves, and how many the page held. Ends on abort. */
export async function* scanPages(
  client: DynamoDBDocumentClient,
  input: ScanCommandInput,
  signal: AbortSignal,
): AsyncGenerator<{ items: Record<string, unknown>[]; read: number }> {
  let from: ScanCommandInput["ExclusiveStartKey"];
  do {
    const { Items, ScannedCount, LastEvaluatedKey } = await client.send(
      new ScanCommand({ ...input, ...(from && { ExclusiveStartKey: from }) }),
    );
    yield { items: Items ?? [], read: ScannedCount ?? 0 };
    from = LastEvaluatedKey;
  } while (from && !signal.aborted);
}
