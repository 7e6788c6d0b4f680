// The payment worker: reads its environment once, composes, and exports the handler.

import { randomUUID } from "node:crypto";

import { sqsHandler } from "../lib/batch.sqs.ts";
import { stripeCharges } from "../lib/charges.stripe.ts";
import { dynamoDb, secretsManager, sqs } from "../lib/clients.aws.ts";
import { readEnvironment } from "../lib/environment.ts";
import { recordsTable } from "../lib/records.dynamodb.ts";
import { fixedKey, secretKeys } from "../lib/stripe-key.secretsmanager.ts";

const environment = readEnvironment(process.env);
const { timings, stripeKey } = environment;
const now = Date.now;

const keys =
  "key" in stripeKey
    ? fixedKey(stripeKey.key)
    : secretKeys(secretsManager(timings), stripeKey.secretArn, timings.callTimeoutMs, now);

export const handler = sqsHandler({
  records: recordsTable(dynamoDb(timings), environment.recordsTable),
  charges: stripeCharges(keys, environment.stripeBase),
  queue: { client: sqs(timings), url: environment.queueUrl },
  functionName: environment.functionName,
  timings,
  now,
  random: Math.random,
  newOwner: randomUUID,
  // Straight to stdout: the console would wrap the line, and its metrics would not be found.
  write: (line) => process.stdout.write(`${JSON.stringify(line)}\n`),
});
