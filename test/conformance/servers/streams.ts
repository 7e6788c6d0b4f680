// A table's stream by DynamoDB's API, at a server that asks for no signature worth the name.

import type { StreamRecord } from "../scenarios/changes.ts";

type Shards = { StreamDescription: { Shards: { ShardId: string }[] } };
type Page = { Records: StreamRecord[]; NextShardIterator?: string };

/** Every record that the table's stream holds. */
export async function readStream(endpoint: string, table: string): Promise<StreamRecord[]> {
  async function call<Output>(operation: string, input: object): Promise<Output> {
    const response = await fetch(endpoint, {
      method: "POST",
      headers: {
        "content-type": "application/x-amz-json-1.0",
        "x-amz-target": `DynamoDBStreams_20120810.${operation}`,
        authorization:
          "AWS4-HMAC-SHA256 Credential=local/20260101/us-east-1/dynamodb/aws4_request, SignedHeaders=host, Signature=0",
      },
      body: JSON.stringify(input),
    });
    if (!response.ok) throw new Error(`${operation}: ${await response.text()}`);
    return (await response.json()) as Output;
  }

  const { Streams } = await call<{ Streams: { StreamArn: string }[] }>("ListStreams", {
    TableName: table,
  });
  const records: StreamRecord[] = [];
  for (const { StreamArn } of Streams) {
    const { StreamDescription } = await call<Shards>("DescribeStream", { StreamArn });
    for (const { ShardId } of StreamDescription.Shards) {
      let { ShardIterator: from } = await call<{ ShardIterator?: string }>("GetShardIterator", {
        StreamArn,
        ShardId,
        ShardIteratorType: "TRIM_HORIZON",
      });
      while (from) {
        const page: Page = await call("GetRecords", { ShardIterator: from });
        records.push(...page.Records);
        // An open shard always has a next iterator: an empty page is the end of what there is.
        from = page.Records.length > 0 ? page.NextShardIterator : undefined;
      }
    }
  }
  return records;
}
