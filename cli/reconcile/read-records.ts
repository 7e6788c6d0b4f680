// Reads the whole table of records in segments, several at once, page by page.
import { DescribeTableCommand } from "@aws-sdk/client-dynamodb";
import { paginateScan } from "@aws-sdk/lib-dynamodb";
import type { DynamoDBDocumentClient } from "@aws-sdk/lib-dynamodb";

import { RECORD_ENTRY, recordEntryOf } from "../../lib/aws/scan-records.ts";
import type { IdempotencyRecord } from "../../lib/payments/record.ts";
import type { Progress } from "../terminal/progress.ts";
import type { Checkpoint } from "./checkpoint.ts";
import type { Partitions } from "./partitions.ts";

// A page may be a megabyte, and its items twenty in memory.
const PAGE = 500;
const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;

/** How many records the table is thought to hold: DynamoDB counts every six hours. */
export async function expectedRecords(
  client: DynamoDBDocumentClient,
  tableName: string,
): Promise<number> {
  const { Table } = await client.send(new DescribeTableCommand({ TableName: tableName }));
  return Table?.ItemCount ?? 0;
}

/**
 * Keeps the records of the period, and the claims without a live lease, however old. Returns when all
 * segments are done or `signal` is aborted; `checkpoint` says where they are. `now` is in epoch ms.
 */
export async function readAllRecords(
  client: DynamoDBDocumentClient,
  checkpoint: Checkpoint,
  partitions: Partitions,
  { now, signal, progress }: { now: number; signal: AbortSignal; progress: Progress },
): Promise<void> {
  const { tableName, segments, counts } = checkpoint;
  // A little more than the period: a charge near its edges belongs to a claim beyond them.
  const from = checkpoint.since - DAY_MS;
  const to = checkpoint.until + 5 * MINUTE_MS;

  const keep = (record: IdempotencyRecord): void => {
    const { firstClaimedAt, leaseExpiresAt, outcome } = record;
    const open = !outcome && leaseExpiresAt <= now;
    counts.records += 1;
    if (open) counts.open += 1;
    if (!open && (firstClaimedAt < from || firstClaimedAt > to)) return;
    partitions.add(recordEntryOf(record));
  };

  const readSegment = async (segment: Checkpoint["segments"][number], index: number) => {
    if (segment.done || signal.aborted) return;
    const scan = {
      TableName: tableName,
      Segment: index,
      TotalSegments: segments.length,
      Limit: PAGE,
      ProjectionExpression: RECORD_ENTRY,
    };
    const paged = { client, startingToken: segment.from };
    for await (const { Items = [], LastEvaluatedKey } of paginateScan(paged, scan)) {
      for (const item of Items) keep(item as IdempotencyRecord);
      progress.advance(Items.length);
      if (LastEvaluatedKey) segment.from = LastEvaluatedKey;
      else segment.done = true;
      if (signal.aborted) return;
    }
  };
  await Promise.all(segments.map(readSegment));
}
