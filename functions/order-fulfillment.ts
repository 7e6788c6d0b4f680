// Order fulfillment: the example of an effect that you own, in one transaction with the record of the
// event that called for it.

import { createDynamoDb, createSqs } from "../lib/aws/clients.ts";
import { ordersTable } from "../lib/aws/orders-table.ts";
import type { LogLine } from "../lib/lambda/emf.ts";
import { readFulfillmentEnvironment } from "../lib/lambda/environment.ts";
import { createFulfillmentHandler } from "../lib/lambda/fulfillment-handler.ts";
import { readCredentials, readDynamoDbEndpoint } from "../lib/lambda/variables.ts";

const environment = readFulfillmentEnvironment(process.env);
const { functionName, timings } = environment;
const { callTimeoutMs, recordTtlMs } = timings;
const aws = { credentials: readCredentials(process.env), callTimeoutMs };
const dynamoDb = createDynamoDb({ ...aws, endpoint: readDynamoDbEndpoint(process.env) });
const now = Date.now;

export const handler = createFulfillmentHandler({
  orders: ordersTable(dynamoDb, environment.ordersTable, {
    eventTtlMs: recordTtlMs, // as long as an event may be published again
    timeoutMs: callTimeoutMs,
    now,
  }),
  queue: { client: createSqs(aws), url: environment.queueUrl },
  functionName,
  timings,
  now,
  random: Math.random,
  write: (line: LogLine) => void process.stdout.write(`${JSON.stringify(line)}\n`),
});
