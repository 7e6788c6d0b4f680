// The payment finalizer: what became of a payment after its outcome was recorded.

import {
  createDynamoDb,
  createEventBridge,
  createSecretsManager,
  createSqs,
} from "../lib/aws/clients.ts";
import { eventBus } from "../lib/aws/event-bus.ts";
import { recordedOutcomes } from "../lib/aws/recorded-outcomes.ts";
import type { LogLine } from "../lib/lambda/emf.ts";
import { readFinalizerEnvironment } from "../lib/lambda/environment.ts";
import { createFinalizerHandler } from "../lib/lambda/finalizer-handler.ts";
import { readCredentials, readDynamoDbEndpoint } from "../lib/lambda/variables.ts";
import { fixedKey, secretKeys } from "../lib/stripe/api-key.ts";
import { stripePayments } from "../lib/stripe/payments.ts";

const environment = readFinalizerEnvironment(process.env);
const { timings, stripeKey, stripeMode, stripeBase, eventBusName } = environment;
const { callTimeoutMs } = timings;
const aws = { credentials: readCredentials(process.env), callTimeoutMs };
const now = Date.now;

const keys =
  "key" in stripeKey
    ? fixedKey(stripeKey.key, stripeMode)
    : secretKeys(createSecretsManager(aws), stripeKey.secretArn, callTimeoutMs, now, stripeMode);
const dynamoDb = createDynamoDb({ ...aws, endpoint: readDynamoDbEndpoint(process.env) });

export const handler = createFinalizerHandler({
  payments: stripePayments(keys, stripeBase),
  records: recordedOutcomes(dynamoDb, environment.recordsTable),
  ...(eventBusName && { bus: eventBus(createEventBridge(aws), eventBusName) }),
  source: environment.source,
  mode: stripeMode,
  queue: { client: createSqs(aws), url: environment.queueUrl },
  functionName: environment.functionName,
  timings,
  now,
  random: Math.random,
  write: (line: LogLine) => void process.stdout.write(`${JSON.stringify(line)}\n`),
});
