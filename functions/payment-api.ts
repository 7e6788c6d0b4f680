// The payment API: the door for HTTP, where the client's Idempotency-Key is the message id.

import { randomUUID } from "node:crypto";

import { createDynamoDb, createSqs } from "../lib/aws/clients.ts";
import { recordReader } from "../lib/aws/read-record.ts";
import { recordsTable } from "../lib/aws/records-table.ts";
import { messageSender } from "../lib/aws/send-message.ts";
import { createApiHandler } from "../lib/lambda/api-handler.ts";
import type { LogLine } from "../lib/lambda/emf.ts";
import { readApiEnvironment } from "../lib/lambda/environment.ts";
import { readCredentials, readDynamoDbEndpoint } from "../lib/lambda/variables.ts";

const {
  recordsTable: tableName,
  queueUrl,
  functionName,
  timings,
} = readApiEnvironment(process.env);
const { callTimeoutMs } = timings;
const aws = { credentials: readCredentials(process.env), callTimeoutMs };
const dynamoDb = createDynamoDb({ ...aws, endpoint: readDynamoDbEndpoint(process.env) });
const records = recordsTable(dynamoDb, tableName);

export const handler = createApiHandler({
  claim: (record) => records.claim(record, callTimeoutMs),
  send: messageSender(createSqs(aws), queueUrl, callTimeoutMs),
  read: recordReader(dynamoDb, tableName, callTimeoutMs),
  limits: timings,
  functionName,
  now: Date.now,
  newOwner: randomUUID,
  write: (line: LogLine) => void process.stdout.write(`${JSON.stringify(line)}\n`),
});
