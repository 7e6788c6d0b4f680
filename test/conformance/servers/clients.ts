// AWS clients for a server on this machine.

import { CreateTableCommand, DynamoDBClient, waitUntilTableExists } from "@aws-sdk/client-dynamodb";
import type { CreateTableCommandInput } from "@aws-sdk/client-dynamodb";
import { SQSClient } from "@aws-sdk/client-sqs";
import { DynamoDBDocumentClient } from "@aws-sdk/lib-dynamodb";

import type { TableSubject } from "../scenarios/table.ts";

const local = (endpoint: string) => ({
  endpoint,
  region: "us-east-1",
  credentials: { accessKeyId: "local", secretAccessKey: "local" },
});

export function sqsClient(endpoint: string): SQSClient {
  return new SQSClient({ ...local(endpoint), useQueueUrlAsEndpoint: false });
}

/** Makes a table with the key `messageId`, as deployed. `more` is another part of CreateTable. */
export async function createRecordsTable(
  endpoint: string,
  tableName = "records",
  more: Partial<CreateTableCommandInput> = {},
): Promise<TableSubject> {
  const dynamoDb = new DynamoDBClient(local(endpoint));
  await dynamoDb.send(
    new CreateTableCommand({
      TableName: tableName,
      BillingMode: "PAY_PER_REQUEST",
      AttributeDefinitions: [{ AttributeName: "messageId", AttributeType: "S" }],
      KeySchema: [{ AttributeName: "messageId", KeyType: "HASH" }],
      ...more,
    }),
  );
  await waitUntilTableExists(
    { client: dynamoDb, maxWaitTime: 20, minDelay: 1 },
    { TableName: tableName },
  );
  return { client: documents(dynamoDb), tableName };
}

export function recordsTableAt(endpoint: string, tableName = "records"): TableSubject {
  return { client: documents(new DynamoDBClient(local(endpoint))), tableName };
}

const documents = (client: DynamoDBClient) =>
  DynamoDBDocumentClient.from(client, { marshallOptions: { removeUndefinedValues: true } });
